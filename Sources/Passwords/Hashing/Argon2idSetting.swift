internal import Cryptography

/// Argon2id in the form of PHC strings: `$argon2id$v=19$m=19456,t=2,p=1[,keyid=ID]$SALT$DIGEST`.
struct Argon2idSetting: HashSetting {
    let parameters: Argon2Parameters
    /// The id of the pepper; nil without one.
    let pepperID: String?
    let salt: [UInt8]

    /// Creates the setting of a new hash.
    init(parameters: Argon2Parameters, pepperID: String?) {
        self.parameters = parameters
        self.pepperID = pepperID
        salt = SecureRandom.bytes(Argon2id.saltCount)
    }

    init(_ text: Substring) throws(PasswordHashFault) {
        let fields = try HashFields.split(text, count: 5)
        // Version 1.0 is not supported.
        guard fields[0].isEmpty, fields[1] == "argon2id", fields[2] == "v=19" else {
            throw .malformed
        }
        let names = ["m", "t", "p"] + (fields[3].contains("keyid=") ? ["keyid"] : [])
        let values = try HashFields.members(fields[3], names)
        parameters = try Argon2Parameters(
            memoryKiB: HashFields.number(values[0]), iterations: HashFields.number(values[1]),
            lanes: HashFields.number(values[2]))
        if values.count > 3 {
            guard PasswordPeppers.isID(values[3]) else { throw .malformed }
            pepperID = String(values[3])
        } else {
            pepperID = nil
        }
        salt = try HashFields.salt(HashFields.decode(unpadded: fields[4]), min: 8)
    }

    var text: String {
        let key = pepperID.map { ",keyid=\($0)" } ?? ""
        return "$argon2id$v=19$m=\(parameters.memoryKiB),t=\(parameters.iterations)"
            + ",p=\(parameters.lanes)\(key)$\(HashFields.unpadded(salt))$"
    }

    var digestCounts: ClosedRange<Int> { 16...64 }

    /// True, so that another system's hash is wrapped: one at the top was made here, of a prepared password.
    var isWeak: Bool { true }

    func decode(digest: Substring) -> [UInt8]? { HashFields.decode(unpadded: digest) }

    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]? {
        try digest(of: password, count: count, peppers: .none)
    }

    func digest(
        of password: WipedBytes, count: Int, peppers: PasswordPeppers
    ) throws(HashingFault) -> [UInt8] {
        try Argon2id.derive(
            password, salt: salt, secret: try peppers.key(pepperID), parameters: parameters,
            count: count)
    }
}
