internal import Cryptography

/// yescrypt and scrypt by crypt(3): `$y$jNR$SALT$`, and `$7$` with N, R, P and SALT `$`.
///
/// Of yescrypt it reads the form that `crypt_gensalt` makes: the default flavour, one digit each for N and r,
/// and no further parameter.
struct YescryptSetting: HashSetting {
    private static let saltCharactersMax = 86

    let text: String
    let isWeak: Bool

    init(_ text: Substring) throws(PasswordHashFault) {
        let cost: Scrypt.Parameters
        if text.hasPrefix("$7$") {
            let fields = try HashFields.split(text, count: 3)
            let salt = fields[2].dropFirst(11)
            guard HashFields.isCrypt(fields[2], count: 11...(11 + Self.saltCharactersMax)),
                HashFields.isCrypt(salt, count: 1...Self.saltCharactersMax)
            else { throw .malformed }
            let digits = fields[2].utf8.prefix(11).compactMap(HashFields.cryptDigit)
            cost = Scrypt.Parameters(
                logN: digits[0], r: Self.number(digits[1...5]), p: Self.number(digits[6...10]))
        } else {
            let fields = try HashFields.split(text, count: 4)
            // A group of digits with a single one has too few bits for a byte.
            guard HashFields.isCrypt(fields[3], count: 1...Self.saltCharactersMax),
                fields[3].utf8.count % 4 != 1
            else { throw .malformed }
            let digits = fields[2].utf8.compactMap(HashFields.cryptDigit)
            guard fields[2].utf8.count == 3, fields[2].hasPrefix("j"),
                digits.count == 3, digits[1] < 48, digits[2] < 48
            else { throw .unsupported }
            cost = Scrypt.Parameters(logN: digits[1] + 1, r: digits[2] + 1, p: 1)
        }
        try cost.check()
        isWeak = cost.isWeak
        self.text = String(text)
    }

    /// Returns the number of digits of six bits each, the lowest first.
    private static func number(_ digits: ArraySlice<Int>) -> Int {
        digits.reversed().reduce(0) { $0 << 6 | $1 }
    }

    var digestCounts: ClosedRange<Int> { 43...43 }

    func decode(digest: Substring) -> [UInt8]? {
        HashFields.isCrypt(digest, count: digestCounts) ? Array(digest.utf8) : nil
    }

    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]? {
        try Crypt.digest(of: password, setting: text)
    }
}
