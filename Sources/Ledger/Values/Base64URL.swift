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

/// The character for the lowest six bits; computed, because looking it up in a table costs more.
@inline(__always)
func base64URLDigit(_ bits: UInt32) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: bits) & 0x3F
    switch value {
    case 0..<26: return value + UInt8(ascii: "A")
    case 26..<52: return value - 26 + UInt8(ascii: "a")
    case 52..<62: return value - 52 + UInt8(ascii: "0")
    case 62: return UInt8(ascii: "-")
    default: return UInt8(ascii: "_")
    }
}

/// Reads unpadded base64url; nil for another alphabet, padding, or trailing bits that are not zero.
func base64URLDecode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count * 3 / 4)
    var buffer: UInt32 = 0
    var bitCount = 0
    for character in text.utf8 {
        guard let value = sextet(character) else { return nil }
        buffer = buffer << 6 | UInt32(value)
        bitCount += 6
        if bitCount >= 8 {
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bitCount)))
        }
    }
    guard bitCount < 6, buffer & ((1 << UInt32(bitCount)) - 1) == 0 else { return nil }
    return bytes
}

private func sextet(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
}
