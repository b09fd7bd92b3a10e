internal import JSON

/// A data item of CBOR (RFC 8949), of the kinds that CTAP 2 has.
enum CBORValue: Sendable {
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map([(key: CBORValue, value: CBORValue)])
    case bool(Bool)
    case null

    /// The value of a text key of a map; nil when it is missing or this is not a map.
    subscript(name: String) -> CBORValue? {
        pairs?.first { pair in
            if case .text(let key) = pair.key { key.isExactly(name) } else { false }
        }?.value
    }

    /// The value of a numeric key of a map; nil when it is missing or this is not a map.
    subscript(number: Int) -> CBORValue? {
        pairs?.first { $0.key.integer == number }?.value
    }

    /// The pairs of a map.
    var pairs: [(key: CBORValue, value: CBORValue)]? {
        if case .map(let pairs) = self { pairs } else { nil }
    }

    /// The number, of either sign.
    var integer: Int? {
        switch self {
        case .unsigned(let number): Int(exactly: number)
        case .negative(let number): Int(exactly: number).map { -1 - $0 }
        case .bytes, .text, .array, .map, .bool, .null: nil
        }
    }

    /// The bytes of a byte string.
    var bytes: [UInt8]? {
        if case .bytes(let bytes) = self { bytes } else { nil }
    }

    /// The text of a text string.
    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
