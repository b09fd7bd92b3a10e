import JSON

/// Checks values by the part of JSON Schema that the documents use.
///
/// Stricter than JSON Schema: a member that a schema does not name is a problem, and so is a keyword
/// that is unknown here.
struct SchemaChecker: Sendable {
    private static let keywords: Set<String> = [
        "type", "properties", "required", "additionalProperties", "items", "enum", "pattern",
        "format", "minLength", "maxLength", "minimum", "maximum", "oneOf", "anyOf", "description",
        "$ref",
    ]

    let components: JSONMembers

    /// Returns the schema that a reference names.
    func schema(at reference: String) -> JSONMembers? {
        let prefix = "#/components/schemas/"
        guard reference.hasPrefix(prefix) else { return nil }
        return components["schemas"]?.members?[String(reference.dropFirst(prefix.count))]?.members
    }

    /// Returns the differences between a value and a schema.
    func problems(of value: JSONValue, by schema: JSONValue, at location: String = "") -> [String] {
        guard let schema = schema.members else { return ["\(location): there is no schema"] }
        if let unknown = schema.keys.first(where: { !Self.keywords.contains($0) }) {
            return ["\(location): the keyword \(unknown) is unknown"]
        }
        if let reference = schema["$ref"]?.string {
            guard let found = self.schema(at: reference) else {
                return ["\(location): \(reference) does not exist"]
            }
            return problems(of: value, by: .object(found), at: location)
        }
        if let choices = (schema["oneOf"] ?? schema["anyOf"])?.array {
            let each = choices.map { problems(of: value, by: $0, at: location) }
            return each.contains(where: \.isEmpty) ? [] : each.flatMap(\.self)
        }
        let types = schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string ?? ""]
        guard let type = types.first(where: { isOf($0, value) }) else {
            return ["\(location): \(value) is not \(types)"]
        }
        if let listed = schema["enum"]?.array, !listed.contains(value) {
            return ["\(location): \(value) is not listed"]
        }
        switch type {
        case "string": return problems(ofText: value.string ?? "", by: schema, at: location)
        case "integer":
            let number = value.number ?? .nan
            let isInRange =
                number >= schema["minimum"]?.number ?? -.infinity
                && number <= schema["maximum"]?.number ?? .infinity
            return isInRange ? [] : ["\(location): \(number) is out of range"]
        case "array":
            return (value.array ?? []).flatMap {
                problems(of: $0, by: schema["items"] ?? .null, at: "\(location)[]")
            }
        case "object": return problems(ofObject: value.members ?? [:], by: schema, at: location)
        default: return []
        }
    }

    private func isOf(_ type: String, _ value: JSONValue) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array),
            ("object", .object):
            true
        case ("integer", .number(let number)): number.rounded() == number
        default: false
        }
    }

    private func problems(
        ofText text: String, by schema: JSONMembers, at location: String
    ) -> [String] {
        var problems: [String] = []
        if let pattern = schema["pattern"]?.string {
            let isMatch = (try? Regex(pattern).wholeMatch(in: text)) != nil
            if !isMatch { problems.append("\(location): \(text) does not match \(pattern)") }
        }
        if let format = schema["format"]?.string {
            let pattern =
                switch format {
                case "uuid": "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
                case "date-time": "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{6}Z"
                default: "$^"
                }
            let isMatch = (try? Regex(pattern).wholeMatch(in: text)) != nil
            if !isMatch { problems.append("\(location): \(text) is no \(format)") }
        }
        let length = Double(text.unicodeScalars.count)
        let lengthMax = schema["maxLength"]?.number ?? .infinity
        if length < schema["minLength"]?.number ?? 0 || length > lengthMax {
            problems.append("\(location): the length \(length) is out of range")
        }
        return problems
    }

    private func problems(
        ofObject members: JSONMembers, by schema: JSONMembers, at location: String
    ) -> [String] {
        guard let properties = schema["properties"]?.members else {
            guard let value = schema["additionalProperties"] else { return [] }
            return members.flatMap { problems(of: $1, by: value, at: "\(location).\($0)") }
        }
        let required = schema["required"]?.array?.compactMap(\.string) ?? []
        return required.filter { members[$0] == nil }.map { "\(location).\($0) is missing" }
            + members.flatMap { name, value in
                guard let property = properties[name] else {
                    return ["\(location).\(name) is not described"]
                }
                return problems(of: value, by: property, at: "\(location).\(name)")
            }
    }
}
