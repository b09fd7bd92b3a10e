/// Base32 with the standard alphabet and without padding, RFC 4648 section 6, as authenticator apps read it.
package enum Base32 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Encodes bytes as text.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 8 + 4) / 5)
        var bits: UInt16 = 0
        var bitCount: UInt16 = 0
        for byte in bytes {
            bits = bits << 8 | UInt16(byte)
            bitCount += 8
            while bitCount >= 5 {
                bitCount -= 5
                text.append(letters[Int(bits >> bitCount & 0x1F)])
            }
        }
        if bitCount > 0 { text.append(letters[Int(bits << (5 - bitCount) & 0x1F)]) }
        return String(decoding: text, as: UTF8.self)
    }
}
