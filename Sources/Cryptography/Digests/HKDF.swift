/// HKDF with SHA-256, RFC 5869, for keys of 32 bytes: one secret gives a key for each purpose.
package enum HKDFSHA256 {
    /// Derives a key without salt; keys of different labels reveal nothing about each other.
    package static func key(from secret: SymmetricKey, label: String) -> SymmetricKey {
        let bytes = key(from: secret.copiedBytes(), info: Array(label.utf8))
        guard let key = SymmetricKey(bytes: bytes) else {
            preconditionFailure("HMAC-SHA-256 has the length of a key")
        }
        return key
    }

    /// Returns the first block of the output.
    static func key(from secret: [UInt8], info: [UInt8]) -> [UInt8] {
        let salt = [UInt8](repeating: 0, count: SHA256.byteCount)
        let pseudorandom = HMACSHA256.mac(key: salt, secret)
        return HMACSHA256.mac(key: pseudorandom, info + [1])
    }
}
