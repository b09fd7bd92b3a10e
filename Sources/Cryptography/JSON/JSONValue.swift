/// A JSON value read under rules stricter than RFC 8259, for text that comes from strangers.
///
/// Refused besides malformed text: two members of one name in an object, lone surrogates, nesting
/// deeper than `depthMax`, numbers that overflow, and a byte order mark. Decoders differ in which of
/// two equal members they keep, and a signed token that two readers understand differently is an
/// attack; Foundation's decoder keeps one in silence, so it can't be used here.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// Deepest nesting of arrays and objects that is read.
    package static let depthMax = 16

    /// Reads one complete JSON text in UTF-8; nil when any rule is broken.
    package init?(parsing bytes: [UInt8]) {
        var scanner = JSONScanner(bytes)
        guard let value = try? scanner.document() else {
            return nil
        }
        self = value
    }

    /// The members when this is an object.
    package var object: [String: JSONValue]? {
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

    /// The number when this is one; always finite.
    package var number: Double? {
        if case .number(let number) = self { number } else { nil }
    }
}

extension [String: JSONValue] {
    /// Returns a member, and nil for one that is missing or null.
    package func present(_ name: String) -> JSONValue? {
        guard let value = self[name], value != .null else {
            return nil
        }
        return value
    }
}

extension String {
    /// Compares byte for byte; `==` also equates canonically equivalent texts.
    func isExactly(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
