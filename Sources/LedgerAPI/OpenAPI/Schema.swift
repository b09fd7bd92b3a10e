internal import JSON

/// The schema of a JSON value, with an example: the one description that the API's document, its
/// examples and its page are made from.
struct Schema: Sendable {
    /// The kind of value.
    indirect enum Kind: Sendable {
        case text(TextRules)
        case integer(ClosedRange<Int64>?)
        case flag
        case list(Schema)
        /// An object whose member names are data.
        case map(Schema)
        case object([Property])
        /// Any object.
        case anyObject
    }

    /// The rules of a string.
    struct TextRules: Sendable {
        /// A format of JSON Schema, such as `uuid`.
        var format: String?
        /// A regular expression that the whole text matches.
        var pattern: String?
        /// The permitted numbers of characters.
        var lengths: ClosedRange<Int>?
        /// The permitted texts; empty when there is no such list.
        var values: [String] = []
    }

    /// An example of a value that is not composed of others.
    enum Example: Sendable {
        case text(String)
        case number(Int64)
        case flag(Bool)
        /// The example of the parts.
        case composed
    }

    var kind: Kind
    /// The name under which the document lists the schema once; every object has one.
    var name: String?
    var isNullable = false
    var example = Example.composed

    /// The same schema, for a value that may be null.
    var orNull: Schema {
        var schema = self
        schema.isNullable = true
        return schema
    }

    /// Returns the same schema with another example.
    func with(example: String) -> Schema {
        var schema = self
        schema.example = .text(example)
        return schema
    }
}

/// A member of an object.
struct Property: Sendable {
    let name: String
    let schema: Schema
    let isRequired: Bool
    let about: String?
    /// Whether the example shows it.
    var isInExample = true

    /// A member that every such object has.
    static func required(_ name: String, _ schema: Schema, _ about: String? = nil) -> Property {
        Property(name: name, schema: schema, isRequired: true, about: about)
    }

    /// A member that may be absent.
    static func optional(_ name: String, _ schema: Schema, _ about: String? = nil) -> Property {
        Property(name: name, schema: schema, isRequired: false, about: about)
    }
}

extension Schema {
    /// Returns the schema of an object that the document lists by name, with these groups of
    /// members.
    static func object(_ name: String, _ members: [Property]...) -> Schema {
        Schema(kind: .object(members.flatMap(\.self)), name: name)
    }

    static func list(_ element: Schema) -> Schema { Schema(kind: .list(element)) }

    static func map(_ value: Schema) -> Schema { Schema(kind: .map(value)) }

    static func text(_ example: String, _ rules: TextRules = TextRules()) -> Schema {
        Schema(kind: .text(rules), example: .text(example))
    }

    /// Returns the schema of one of these texts, of which the first is the example.
    static func choice(_ values: [String]) -> Schema {
        .text(values.first ?? "", TextRules(values: values))
    }

    static func integer(_ example: Int64, _ range: ClosedRange<Int64>? = nil) -> Schema {
        Schema(kind: .integer(range), example: .number(example))
    }

    static func flag(_ example: Bool) -> Schema {
        Schema(kind: .flag, example: .flag(example))
    }

    static let anyObject = Schema(kind: .anyObject)
    static let empty = Schema.object("Empty", [])
}

extension Schema {
    /// Writes the schema, or a reference to where the document lists it.
    func write(to writer: inout JSONWriter, about: String? = nil) {
        guard let name else { return writeDefinition(to: &writer, about: about) }
        writer.object { writer in
            writer.member("description", about)
            guard isNullable else { return writer.reference(to: name) }
            writer.name("oneOf")
            writer.array { writer in
                writer.object { $0.reference(to: name) }
                writer.object { $0.member("type", "null") }
            }
        }
    }

    /// Writes the schema itself.
    func writeDefinition(to writer: inout JSONWriter, about: String? = nil) {
        writer.object { writer in
            writer.member("description", about)
            writer.name("type")
            if isNullable, name == nil {
                writer.texts([type, "null"])
            } else {
                writer.text(type)
            }
            switch kind {
            case .text(let rules): rules.write(to: &writer, orNull: isNullable && name == nil)
            case .integer(let range):
                guard let range else { return }
                writer.name("minimum")
                writer.number(range.lowerBound)
                writer.name("maximum")
                writer.number(range.upperBound)
            case .flag, .anyObject: break
            case .list(let element):
                writer.name("items")
                element.write(to: &writer)
            case .map(let value):
                writer.name("additionalProperties")
                value.write(to: &writer)
            case .object(let members):
                writer.name("properties")
                writer.object { writer in
                    for member in members {
                        writer.name(member.name)
                        member.schema.write(to: &writer, about: member.about)
                    }
                }
                let required = members.filter(\.isRequired).map(\.name)
                guard !required.isEmpty else { return }
                writer.name("required")
                writer.texts(required)
            }
        }
    }

    /// The word of JSON Schema for the kind.
    var type: String {
        switch kind {
        case .text: "string"
        case .integer: "integer"
        case .flag: "boolean"
        case .list: "array"
        case .map, .object, .anyObject: "object"
        }
    }

    /// Writes the example.
    func writeExample(to writer: inout JSONWriter) {
        switch (example, kind) {
        case (.text(let text), _): writer.text(text)
        case (.number(let number), _): writer.number(number)
        case (.flag(let flag), _): writer.flag(flag)
        case (.composed, .list(let element)): writer.array { element.writeExample(to: &$0) }
        case (.composed, .object(let members)):
            writer.object { writer in
                for member in members where member.isInExample {
                    writer.name(member.name)
                    member.schema.writeExample(to: &writer)
                }
            }
        case (.composed, .map), (.composed, .anyObject), (.composed, .text),
            (.composed, .integer), (.composed, .flag):
            writer.object { _ in }
        }
    }

    /// Adds every schema with a name that this one uses.
    func collect(into found: inout [String: Schema]) {
        if let name {
            guard found[name] == nil else { return }
            found[name] = self
        }
        switch kind {
        case .list(let element): element.collect(into: &found)
        case .map(let value): value.collect(into: &found)
        case .object(let members):
            for member in members { member.schema.collect(into: &found) }
        case .text, .integer, .flag, .anyObject: break
        }
    }
}

extension Schema.TextRules {
    fileprivate func write(to writer: inout JSONWriter, orNull: Bool) {
        writer.member("format", format)
        writer.member("pattern", pattern)
        if let lengths {
            writer.name("minLength")
            writer.number(Int64(lengths.lowerBound))
            writer.name("maxLength")
            writer.number(Int64(lengths.upperBound))
        }
        guard !values.isEmpty else { return }
        writer.name("enum")
        writer.array { writer in
            for value in values { writer.text(value) }
            // A list of values applies to null as well, whatever the type allows.
            if orNull { writer.null() }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func reference(to name: String) {
        member("$ref", "#/components/schemas/\(name)")
    }
}
