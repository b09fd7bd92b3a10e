/// Base64 with the standard alphabet and padding, RFC 4648 section 4.
///
/// As in `Base64URL`, a byte sequence has exactly one text: missing or superfluous padding, white
/// space, other alphabets and non-zero trailing bits are refused.
package enum Base64 {
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
        let start = text.count
        Base64URL.append(bytes.span, to: &text)
        for index in start..<text.count { text[index] = standard(text[index]) }
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
        let translated = digits.map(urlSafe)
        return Base64URL.decode(translated.span)
    }

    /// Converts a character of the URL-safe alphabet to the standard one.
    private static func standard(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: character
        }
    }

    /// Converts a character to the URL-safe alphabet; a character that only that alphabet has becomes
    /// one that it lacks.
    private static func urlSafe(_ character: UInt8) -> UInt8 {
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        case UInt8(ascii: "-"), UInt8(ascii: "_"): padding
        default: character
        }
    }
}
