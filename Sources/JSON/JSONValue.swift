/// A JSON value, parsed by rules stricter than RFC 8259 for untrusted text.
///
/// Also refused are duplicate member names, lone surrogates, nesting deeper than `depthMax`, and a byte
/// order mark. Decoders differ in which of two duplicate members they keep, and a signed token that two
/// readers understand differently is an attack; Foundation's decoder silently keeps one, so it can't be
/// used here. Texts are compared byte for byte.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    /// A number, infinite on overflow: an unused number must not invalidate the document.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONMembers)

    /// Deepest accepted nesting of arrays and objects.
    package static let depthMax = 16

    /// Parses a complete JSON text in UTF-8; nil when it breaks a rule.
    package init?(parsing bytes: [UInt8]) {
        var scanner = JSONScanner(bytes)
        guard let value = try? scanner.document() else {
            return nil
        }
        self = value
    }

    /// The members when this is an object.
    package var members: JSONMembers? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements when this is an array.
    package var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text when this is a string.
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number when this is a finite number.
    package var number: Double? {
        if case .number(let number) = self, number.isFinite { number } else { nil }
    }
}

extension JSONValue: Equatable {
    /// Compares values, and texts byte for byte.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.isExactly(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
        }
    }
}
