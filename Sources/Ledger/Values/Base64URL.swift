private let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

/// The unpadded base64url form of some bytes (RFC 4648, section 5).
func base64URLEncode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    appendBase64URL(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
}

/// Appends the unpadded base64url form to bytes that are being written.
func appendBase64URL(_ bytes: [UInt8], to text: inout [UInt8]) {
    var buffer: UInt32 = 0
    var bitCount = 0
    for byte in bytes {
        buffer = buffer << 8 | UInt32(byte)
        bitCount += 8
        while bitCount >= 6 {
            bitCount -= 6
            text.append(alphabet[Int(buffer >> UInt32(bitCount)) & 0x3F])
        }
    }
    if bitCount > 0 {
        text.append(alphabet[Int(buffer << UInt32(6 - bitCount)) & 0x3F])
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
