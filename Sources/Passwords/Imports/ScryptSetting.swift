internal import Cryptography

/// scrypt in the form of PHC strings: `$scrypt$ln=17,r=8,p=1$SALT$DIGEST`.
struct ScryptSetting: HashSetting {
    let text: String
    private let parameters: Scrypt.Parameters
    private let salt: [UInt8]

    init(_ text: Substring) throws(PasswordHashFault) {
        let fields = try HashFields.split(text, count: 4)
        let values = try HashFields.members(fields[2], ["ln", "r", "p"])
        parameters = try Scrypt.Parameters(
            logN: HashFields.number(values[0]), r: HashFields.number(values[1]),
            p: HashFields.number(values[2]))
        try parameters.check()
        salt = try HashFields.salt(HashFields.decode(unpadded: fields[3]))
        self.text = String(text)
    }

    var digestCounts: ClosedRange<Int> { 16...64 }
    var isWeak: Bool { parameters.isWeak }

    func decode(digest: Substring) -> [UInt8]? { HashFields.decode(unpadded: digest) }

    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]? {
        guard
            let bytes = Scrypt.derive(password, salt: salt, parameters: parameters, count: count)
        else { throw .noMemory }
        return bytes
    }
}

extension Scrypt.Parameters {
    /// Whether the table is small enough for many guesses at once.
    var isWeak: Bool { tableBytes < CostLimits.memoryBytesStrong }

    /// Checks the costs, and the bounds of RFC 7914 section 2.
    func check() throws(PasswordHashFault) {
        guard logN >= 1, r >= 1, p >= 1, logN < 16 * r else { throw .malformed }
        // Within these, the size of the table does not overflow.
        guard logN <= 30, r <= 1 << 20 else { throw .costTooHigh(.memory) }
        // The table is written once and read once for each lane, one after the other.
        try CostLimits.check(memoryBytes: tableBytes, passes: 2 * p, lanes: p)
    }
}
