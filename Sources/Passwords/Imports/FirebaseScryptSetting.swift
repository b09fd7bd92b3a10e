internal import Cryptography
internal import Encodings

/// Firebase's scrypt, in the form that Supabase Auth has introduced:
/// `$fbscrypt$v=1,n=14,r=8,p=1,ss=SEPARATOR,sk=SIGNER_KEY$SALT$DIGEST`.
///
/// The digest is the project's signer key, encrypted with a key that scrypt derives from the password and
/// the salt followed by the separator. All four are padded Base64, as exports have them.
struct FirebaseScryptSetting: HashSetting {
    let text: String
    private let parameters: Scrypt.Parameters
    private let salt: [UInt8]
    private let signerKey: [UInt8]

    init(_ text: Substring) throws(PasswordHashFault) {
        let fields = try HashFields.split(text, count: 4)
        let values = try HashFields.members(fields[2], ["v", "n", "r", "p", "ss", "sk"])
        parameters = try Scrypt.Parameters(
            logN: HashFields.number(values[1]), r: HashFields.number(values[2]),
            p: HashFields.number(values[3]))
        try parameters.check()
        guard values[0] == "1", let separator = Base64.decode(values[4]), separator.count <= 32,
            let signerKey = Base64.decode(values[5]), (32...128).contains(signerKey.count)
        else { throw .malformed }
        self.signerKey = signerKey
        salt = try HashFields.salt(Base64.decode(fields[3])) + separator
        self.text = String(text)
    }

    var digestCounts: ClosedRange<Int> { signerKey.count...signerKey.count }
    var isWeak: Bool { parameters.isWeak }

    func decode(digest: Substring) -> [UInt8]? { Base64.decode(digest) }

    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]? {
        let derived = Scrypt.derive(
            password, salt: salt, parameters: parameters, count: SymmetricKey.byteCount)
        guard let key = derived.flatMap({ SymmetricKey(bytes: $0) }) else { throw .noMemory }
        return AESCTR.crypt(signerKey, key: key)
    }
}
