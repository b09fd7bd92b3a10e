internal import OneTimePasswords

/// An authenticator app with one secret.
package struct AuthenticatorApp: Sendable {
    private let secret: TOTPSecret

    /// Reads the secret in base32; nil for another text.
    package init?(base32 text: String) {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var bits = 0
        var bitCount = 0
        var bytes: [UInt8] = []
        for letter in text {
            guard let value = letters.firstIndex(of: letter) else { return nil }
            bits = (bits << 5 | value) & 0xFFFF
            bitCount += 5
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        }
        guard let secret = TOTPSecret(bytes: bytes) else { return nil }
        self.secret = secret
    }

    /// Returns the code of a time in seconds since 1970.
    package func code(at seconds: Int64) -> String { secret.code(at: seconds) }

    /// Returns a code that is right at no step near a time.
    package func wrongCode(at seconds: Int64) -> String {
        let right = [-60, -30, 0, 30, 60].map { code(at: seconds + $0) }
        return ["000000", "111111", "222222", "333333", "444444", "555555"]
            .first { !right.contains($0) } ?? "666666"
    }
}
