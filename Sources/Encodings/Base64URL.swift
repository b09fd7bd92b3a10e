/// Base64 with the URL-safe alphabet and without padding, RFC 4648 section 5 and RFC 7515 section 2.
///
/// A byte sequence has exactly one text: padding, white space, other alphabets and non-zero trailing
/// bits are refused, so that a signed text has no second spelling.
package enum Base64URL {
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
        text.append(addingCapacity: textCount(bytes.count)) { text in append(bytes, to: &text) }
    }

    /// Appends the text of bytes to an output buffer with the capacity for it.
    private static func append(_ bytes: Span<UInt8>, to text: inout OutputSpan<UInt8>) {
        var index = 0
        while index + 3 <= bytes.count {
            let group =
                UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8
                | UInt32(bytes[index + 2])
            text.append(letter(group >> 18))
            text.append(letter(group >> 12))
            text.append(letter(group >> 6))
            text.append(letter(group))
            index += 3
        }
        guard index < bytes.count else { return }
        let hasSecond = index + 1 < bytes.count
        let group = UInt32(bytes[index]) << 16 | (hasSecond ? UInt32(bytes[index + 1]) << 8 : 0)
        text.append(letter(group >> 18))
        text.append(letter(group >> 12))
        if hasSecond { text.append(letter(group >> 6)) }
    }

    /// Decodes text; nil when it is not canonical.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        return decode(characters.span)
    }

    /// Decodes ASCII text; nil when it is not canonical.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        // A single last character has too few bits for a byte.
        guard text.count % 4 != 1 else { return nil }
        var isCanonical = false
        let bytes = [UInt8](capacity: text.count * 3 / 4) { bytes in
            isCanonical = decode(text, to: &bytes)
        }
        return isCanonical ? bytes : nil
    }

    /// Appends the bytes of a text; false for a character outside the alphabet or a non-zero trailing bit.
    private static func decode(_ text: Span<UInt8>, to bytes: inout OutputSpan<UInt8>) -> Bool {
        // Digits are checked together at the end, because random ones are mispredicted.
        var seen: UInt8 = 0
        var index = 0
        while index + 4 <= text.count {
            let (a, b) = (sextet(text[index]), sextet(text[index + 1]))
            let (c, d) = (sextet(text[index + 2]), sextet(text[index + 3]))
            seen |= a | b | c | d
            let group = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
            index += 4
        }
        var group: UInt32 = 0
        var bitCount: UInt32 = 0
        while index < text.count {
            let value = sextet(text[index])
            seen |= value
            group = group << 6 | UInt32(value)
            bitCount += 6
            index += 1
        }
        while bitCount >= 8 {
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> bitCount))
        }
        return seen < 64 && group & (1 << bitCount - 1) == 0
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
    private static func letter(_ bits: UInt32) -> UInt8 {
        letters[Int(bits & 0x3F)]
    }

    private static let letters: InlineArray<64, UInt8> = {
        var table = InlineArray<64, UInt8>(repeating: 0)
        for value in 0..<64 { table[value] = digit(UInt32(value)) }
        return table
    }()

    /// Returns the six bits of a character, or 0xFF for one outside of the alphabet.
    @inline(__always)
    private static func sextet(_ character: UInt8) -> UInt8 {
        sextets[Int(character)]
    }

    private static let sextets: InlineArray<256, UInt8> = {
        var table = InlineArray<256, UInt8>(repeating: 0xFF)
        for value in 0..<64 { table[Int(digit(UInt32(value)))] = UInt8(value) }
        return table
    }()
}
