/// Base64 with the URL-safe alphabet and without padding, RFC 4648 section 5 and RFC 7515 section 2.
///
/// A byte sequence has exactly one text: padding, white space, other alphabets and non-zero trailing
/// bits are refused, so that a signed text has no second spelling.
package enum Base64URL: Base64Alphabet {
    /// Returns the number of characters for a number of bytes.
    package static func textCount(_ byteCount: Int) -> Int {
        (byteCount * 4 + 2) / 3
    }

    /// Encodes bytes as text.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        append(bytes.span, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of bytes to an output buffer.
    package static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
        appendText(of: bytes, to: &text)
    }

    /// Decodes text; nil when it is not canonical.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        return decode(characters.span)
    }

    /// Decodes ASCII text; nil when it is not canonical.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        bytes(of: text)
    }

    /// Decodes the 43 characters of 32 bytes to words, most significant first; nil for any other text.
    package static func decodeWords(_ text: Span<UInt8>) -> (UInt64, UInt64, UInt64, UInt64)? {
        guard text.count == 43 else { return nil }
        var seen: UInt8 = 0
        let middle = bits(text, 10..<11, &seen)
        let second = bits(text, 21..<22, &seen)
        let last = bits(text, 42..<43, &seen)
        let words = (
            bits(text, 0..<10, &seen) << 4 | middle >> 2,
            middle << 62 | bits(text, 11..<21, &seen) << 2 | second >> 4,
            second << 60 | bits(text, 22..<32, &seen),
            bits(text, 32..<42, &seen) << 4 | last >> 2
        )
        return seen < 64 && last & 3 == 0 ? words : nil
    }

    @inline(__always)
    private static func bits(
        _ text: Span<UInt8>, _ range: Range<Int>, _ seen: inout UInt8
    ) -> UInt64 {
        var bits: UInt64 = 0
        for index in range {
            let value = sextet(text[index])
            seen |= value
            bits = bits << 6 | UInt64(value & 0x3F)
        }
        return bits
    }

    /// Returns the character for the lowest six bits.
    ///
    /// Branch-free, because random bits would be mispredicted.
    @inlinable @inline(__always)
    package static func digit(_ bits: UInt32) -> UInt8 {
        let value = Int32(truncatingIfNeeded: bits & 0x3F)
        // A shifted negative number has all bits set; after Z, z, 9 and - the alphabet continues
        // elsewhere.
        var digit = value &+ Int32(UInt8(ascii: "A"))
        digit &+= (25 &- value) >> 8 & 6
        digit &-= (51 &- value) >> 8 & 75
        digit &-= (61 &- value) >> 8 & 13
        digit &+= (62 &- value) >> 8 & 49
        return UInt8(truncatingIfNeeded: digit)
    }

    /// Returns the character for the lowest six bits from a table, which is faster for whole texts.
    @inline(__always)
    static func letter(_ bits: UInt32) -> UInt8 {
        letters[Int(bits & 0x3F)]
    }

    private static let letters = InlineArray<64, UInt8> { digit(UInt32($0)) }

    @inline(__always)
    static func sextet(_ character: UInt8) -> UInt8 {
        sextets[Int(character)]
    }

    private static let sextets = sextets(of: letters)
}
