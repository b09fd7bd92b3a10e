/// Base64 with the URL-safe alphabet and without padding, RFC 4648 section 5 and RFC 7515 section 2.
///
/// One run of bytes has exactly one text: padding, white space, other alphabets and non-zero
/// trailing bits are all refused, so that a signed text can't be spelt in two ways.
package enum Base64URL {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static let notInAlphabet: UInt8 = 0xFF

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: notInAlphabet, count: 256)
        for (value, character) in alphabet.enumerated() {
            table[Int(character)] = UInt8(value)
        }
        return table
    }()

    /// Encodes bytes as text.
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var pending: UInt32 = 0
        var pendingBits = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            pendingBits += 8
            while pendingBits >= 6 {
                pendingBits -= 6
                text.append(alphabet[Int(pending >> UInt32(pendingBits) & 0x3F)])
            }
        }
        if pendingBits > 0 {
            text.append(alphabet[Int(pending << UInt32(6 - pendingBits) & 0x3F)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes text, or returns nil when it is not the one canonical spelling of some bytes.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: text.utf8)
    }

    /// Decodes ASCII text, or returns nil when it is not canonical.
    static func decode(utf8 text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var pending: UInt32 = 0
        var pendingBits = 0
        for character in text {
            let value = values[Int(character)]
            guard value != notInAlphabet else {
                return nil
            }
            pending = pending << 6 | UInt32(value)
            pendingBits += 6
            if pendingBits >= 8 {
                pendingBits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
            }
        }
        // Six left-over bits mean a lone last character; other left-over bits must be zero.
        let leftOver = pending & (1 << UInt32(pendingBits) - 1)
        guard pendingBits < 6, leftOver == 0 else {
            return nil
        }
        return bytes
    }
}
