internal import Cryptography

/// sha512-crypt, sha256-crypt and md5-crypt by crypt(3): `$6$[rounds=N$]SALT$`, `$5$` and `$1$`.
struct SHACryptSetting: HashSetting {
    private static let roundsDefault = 5000
    private static let roundsMin = 1000
    /// About the work of the PBKDF2 iterations that OWASP recommends.
    private static let roundsStrong = 400_000

    let text: String
    let digestCounts: ClosedRange<Int>
    let isWeak: Bool
    /// The longest password that it hashes, in bytes.
    let passwordBytesMax: Int

    init(_ text: Substring) throws(PasswordHashFault) {
        let isMD5 = text.hasPrefix("$1$")
        let hasRounds = !isMD5 && text.dropFirst(3).hasPrefix("rounds=")
        let fields = try HashFields.split(text, count: hasRounds ? 4 : 3)
        let salt = fields[hasRounds ? 3 : 2]
        guard fields[0].isEmpty, HashFields.isCrypt(salt, count: 1...(isMD5 ? 8 : 16)) else {
            throw .malformed
        }
        var rounds = Self.roundsDefault
        if hasRounds {
            rounds = try HashFields.number(fields[2].dropFirst("rounds=".count))
            guard rounds >= Self.roundsMin else { throw .malformed }
            guard rounds <= CostLimits.shaCryptRoundsMax else { throw .costTooHigh(.iterations) }
        }
        switch fields[1] {
        case "6": digestCounts = 86...86
        case "5": digestCounts = 43...43
        default: digestCounts = 22...22
        }
        isWeak = isMD5 || rounds < Self.roundsStrong
        passwordBytesMax = min(Crypt.passwordBytesMax, CostLimits.shaCryptBytesMax / rounds)
        self.text = String(text)
    }

    func decode(digest: Substring) -> [UInt8]? {
        HashFields.isCrypt(digest, count: digestCounts) ? Array(digest.utf8) : nil
    }

    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]? {
        try Crypt.digest(of: password, setting: text, bytesMax: passwordBytesMax)
    }
}
