/// Appends the unpadded base64url form to bytes that are being written.
func appendBase64URL(_ bytes: [UInt8], to text: inout [UInt8]) {
    text.append(addingCapacity: (bytes.count * 4 + 2) / 3) { text in
        let wholeCount = bytes.count / 3 * 3
        for index in stride(from: 0, to: wholeCount, by: 3) {
            let group =
                UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8
                | UInt32(bytes[index + 2])
            text.append(base64URLDigit(group >> 18))
            text.append(base64URLDigit(group >> 12))
            text.append(base64URLDigit(group >> 6))
            text.append(base64URLDigit(group))
        }
        switch bytes.count - wholeCount {
        case 1:
            let group = UInt32(bytes[wholeCount]) << 16
            text.append(base64URLDigit(group >> 18))
            text.append(base64URLDigit(group >> 12))
        case 2:
            let group = UInt32(bytes[wholeCount]) << 16 | UInt32(bytes[wholeCount + 1]) << 8
            text.append(base64URLDigit(group >> 18))
            text.append(base64URLDigit(group >> 12))
            text.append(base64URLDigit(group >> 6))
        default: break
        }
    }
}

/// Returns the character for the lowest six bits.
///
/// Branch-free, because random bits would be mispredicted, and without a table, which costs more.
@inline(__always)
func base64URLDigit(_ bits: UInt32) -> UInt8 {
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

/// Reads unpadded base64url; nil for another alphabet, padding, or trailing bits that are not zero.
func base64URLDecode(_ text: some StringProtocol) -> [UInt8]? {
    base64URLDecode(Array(text.utf8)[...])
}

/// Reads unpadded base64url from its bytes; nil for anything else.
func base64URLDecode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var wrong: UInt8 = 0
    var cursor = text.startIndex
    while text.endIndex - cursor >= 4 {
        var group: UInt32 = 0
        for offset in 0..<4 {
            let sextet = base64URLSextet(text[cursor + offset])
            wrong |= sextet
            group = group << 6 | UInt32(sextet & 0x3F)
        }
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
        cursor += 4
    }
    var buffer: UInt32 = 0
    var bitCount = 0
    for character in text[cursor...] {
        let sextet = base64URLSextet(character)
        wrong |= sextet
        buffer = buffer << 6 | UInt32(sextet & 0x3F)
        bitCount += 6
        if bitCount >= 8 {
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bitCount)))
        }
    }
    guard wrong & 0xC0 == 0, buffer & ((1 << UInt32(bitCount)) - 1) == 0 else { return nil }
    return bytes
}

/// Returns the six bits of a character, or 0xFF for one outside of the alphabet.
@inline(__always)
func base64URLSextet(_ character: UInt8) -> UInt8 {
    sextets[Int(character)]
}

private let sextets: InlineArray<256, UInt8> = {
    var table = InlineArray<256, UInt8>(repeating: 0xFF)
    for value in 0..<64 { table[Int(base64URLDigit(UInt32(value)))] = UInt8(value) }
    return table
}()
