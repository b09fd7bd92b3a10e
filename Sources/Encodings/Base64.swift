/// Base64 with the standard alphabet and padding, RFC 4648 section 4.
///
/// As in `Base64URL`, a byte sequence has exactly one text: missing or superfluous padding, white
/// space, other alphabets and non-zero trailing bits are refused.
package enum Base64 {
    private static let padding = UInt8(ascii: "=")

    private static let digits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes as text.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of bytes to an output buffer.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        unsafe digits.withUnsafeBufferPointer { digits in
            var index = 0
            while index < bytes.count {
                let (second, third) = (index + 1 < bytes.count, index + 2 < bytes.count)
                let group =
                    UInt32(bytes[index]) << 16 | (second ? UInt32(bytes[index + 1]) << 8 : 0)
                    | (third ? UInt32(bytes[index + 2]) : 0)
                unsafe text.append(digits[Int(group >> 18)])
                unsafe text.append(digits[Int(group >> 12 & 0x3F)])
                unsafe text.append(second ? digits[Int(group >> 6 & 0x3F)] : padding)
                unsafe text.append(third ? digits[Int(group & 0x3F)] : padding)
                index += 3
            }
        }
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
        var translated: [UInt8] = []
        translated.reserveCapacity(digits.count)
        for character in digits {
            guard let digit = urlSafe(character) else {
                return nil
            }
            translated.append(digit)
        }
        return unsafe translated.withUnsafeBufferPointer { characters in
            unsafe Base64URL.decode(characters)
        }
    }

    /// Converts a character to the URL-safe alphabet; nil for characters that only that alphabet has.
    private static func urlSafe(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        case UInt8(ascii: "-"), UInt8(ascii: "_"): nil
        default: character
        }
    }
}
