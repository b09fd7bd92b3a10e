internal import Cryptography

/// bcrypt by crypt(3): `$2b$12$` and 22 characters of salt; also `$2a$` and `$2y$`.
///
/// It uses the first 72 bytes of a password, as the systems that such hashes come from do.
///
/// crypt_blowfish until 1.0.4 of 2011 hashed characters outside of ASCII wrongly. Its `$2a$` hashes of passwords
/// with these match nothing: no text tells them from right ones. What the library does otherwise for `$2a$`
/// than for `$2b$` concerns passwords with the byte 0xFF only, which UTF-8 does not have.
struct BcryptSetting: HashSetting {
    /// The number of characters in front of the digest.
    static let textCount = 29
    /// The number of bytes of a password that it uses.
    static let passwordBytesMax = 72
    private static let logRoundsStrong = 10

    let text: String
    private let logRounds: Int

    init(_ text: Substring) throws(PasswordHashFault) {
        guard ["$2a$", "$2b$", "$2y$"].contains(where: text.hasPrefix) else { throw .unsupported }
        let rounds = text.dropFirst(4).prefix(2)
        let rest = text.dropFirst(6)
        guard text.utf8.count == Self.textCount, rest.hasPrefix("$"), rounds.utf8.count == 2,
            HashFields.isCrypt(rest.dropFirst(), count: 22...22)
        else { throw .malformed }
        logRounds = try HashFields.number(rounds.hasPrefix("0") ? rounds.dropFirst() : rounds)
        guard logRounds >= 4 else { throw .malformed }
        guard logRounds <= CostLimits.bcryptLogRoundsMax else { throw .costTooHigh(.iterations) }
        self.text = String(text)
    }

    var digestCounts: ClosedRange<Int> { 31...31 }
    var isWeak: Bool { logRounds < Self.logRoundsStrong }

    func decode(digest: Substring) -> [UInt8]? {
        HashFields.isCrypt(digest, count: digestCounts) ? Array(digest.utf8) : nil
    }

    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]? {
        try Crypt.digest(
            of: password, setting: text, bytesMax: Self.passwordBytesMax, ignoresRest: true)
    }
}
