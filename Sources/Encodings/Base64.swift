/// Base64 with the standard alphabet and padding, RFC 4648 section 4.
///
/// As in `Base64URL`, a byte sequence has exactly one text: missing or superfluous padding, white
/// space, other alphabets and non-zero trailing bits are refused.
package enum Base64: Base64Alphabet {
    private static let padding = UInt8(ascii: "=")

    /// Encodes bytes as text.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of bytes to an output buffer.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        appendText(of: bytes.span, to: &text)
        text.append(contentsOf: repeatElement(padding, count: (3 - bytes.count % 3) % 3))
    }

    /// Decodes text; nil when it is not canonical.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(Array(text.utf8)[...])
    }

    /// Decodes ASCII text; nil when it is not canonical.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else {
            return nil
        }
        var digits = text
        for _ in 0..<2 where digits.last == padding {
            digits.removeLast()
        }
        return bytes(of: digits.span)
    }

    @inline(__always)
    static func letter(_ bits: UInt32) -> UInt8 {
        letters[Int(bits & 0x3F)]
    }

    private static let letters = InlineArray<64, UInt8> { value in
        switch value {
        case 62: UInt8(ascii: "+")
        case 63: UInt8(ascii: "/")
        default: Base64URL.digit(UInt32(value))
        }
    }

    @inline(__always)
    static func sextet(_ character: UInt8) -> UInt8 {
        sextets[Int(character)]
    }

    private static let sextets = sextets(of: letters)
}
