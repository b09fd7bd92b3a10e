/// An alphabet of base64, and its codec without padding.
///
/// An alphabet's tables are static properties: of a table that is passed as a value, each lookup may copy all.
protocol Base64Alphabet {
    /// Returns the character for the lowest six bits.
    static func letter(_ bits: UInt32) -> UInt8
    /// Returns the six bits of a character, or 0xFF for one outside of the alphabet.
    static func sextet(_ character: UInt8) -> UInt8
}

extension Base64Alphabet {
    /// Returns the values of letters by character, for ``sextet(_:)``.
    static func sextets(of letters: InlineArray<64, UInt8>) -> InlineArray<256, UInt8> {
        var sextets = InlineArray<256, UInt8>(repeating: 0xFF)
        for value in letters.indices { sextets[Int(letters[value])] = UInt8(value) }
        return sextets
    }

    /// Appends the text of bytes to an output buffer.
    static func appendText(of bytes: Span<UInt8>, to text: inout [UInt8]) {
        text.append(addingCapacity: Base64URL.textCount(bytes.count)) { text in
            appendText(of: bytes, to: &text)
        }
    }

    /// Appends the text of bytes to an output buffer with the capacity for it.
    private static func appendText(of bytes: Span<UInt8>, to text: inout OutputSpan<UInt8>) {
        var rest = bytes
        while rest.count >= 3 {
            let group = UInt32(rest[0]) << 16 | UInt32(rest[1]) << 8 | UInt32(rest[2])
            text.append(letter(group >> 18))
            text.append(letter(group >> 12))
            text.append(letter(group >> 6))
            text.append(letter(group))
            rest = rest.extracting(droppingFirst: 3)
        }
        guard rest.count > 0 else { return }
        let group = UInt32(rest[0]) << 16 | (rest.count > 1 ? UInt32(rest[1]) << 8 : 0)
        text.append(letter(group >> 18))
        text.append(letter(group >> 12))
        if rest.count > 1 { text.append(letter(group >> 6)) }
    }

    /// Decodes text; nil when it is not canonical.
    static func bytes(of text: Span<UInt8>) -> [UInt8]? {
        // A single last character has too few bits for a byte.
        guard text.count % 4 != 1 else { return nil }
        var isCanonical = false
        let bytes = [UInt8](capacity: text.count * 3 / 4) { bytes in
            isCanonical = appendBytes(of: text, to: &bytes)
        }
        return isCanonical ? bytes : nil
    }

    /// Appends the bytes of a text; false for a character outside the alphabet or a non-zero trailing bit.
    private static func appendBytes(of text: Span<UInt8>, to bytes: inout OutputSpan<UInt8>) -> Bool
    {
        // Digits are checked together at the end, because random ones are mispredicted.
        var seen: UInt8 = 0
        var rest = text
        while rest.count >= 4 {
            let (a, b) = (sextet(rest[0]), sextet(rest[1]))
            let (c, d) = (sextet(rest[2]), sextet(rest[3]))
            seen |= a | b | c | d
            let group = UInt32(a) << 18 | UInt32(b) << 12 | UInt32(c) << 6 | UInt32(d)
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
            rest = rest.extracting(droppingFirst: 4)
        }
        var group: UInt32 = 0
        var bitCount: UInt32 = 0
        for index in rest.indices {
            let value = sextet(rest[index])
            seen |= value
            group = group << 6 | UInt32(value)
            bitCount += 6
        }
        while bitCount >= 8 {
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: group >> bitCount))
        }
        return seen < 64 && group & (1 << bitCount - 1) == 0
    }
}
