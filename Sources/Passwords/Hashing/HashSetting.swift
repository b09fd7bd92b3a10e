internal import Cryptography

/// The part of a hash in front of its digest: scheme, cost and salt.
protocol HashSetting: Sendable {
    /// Reads the text in front of the digest, its last `$` included.
    init(_ text: Substring) throws(PasswordHashFault)

    /// The text that it was read from.
    var text: String { get }
    /// The possible lengths of its digest, in bytes.
    var digestCounts: ClosedRange<Int> { get }
    /// Whether a stolen hash with it can be searched for passwords too cheaply.
    var isWeak: Bool { get }

    /// Decodes the digest of a hash; nil when it is not the text of any digest.
    func decode(digest: Substring) -> [UInt8]?

    /// Hashes a password's bytes.
    ///
    /// Nil, after the same work, for a password that the scheme can't hash as a whole.
    func digest(of password: WipedBytes, count: Int) throws(HashingFault) -> [UInt8]?
}

/// The schemes by the beginnings of their texts.
enum HashSettings {
    private static let types: [(prefix: String, type: any HashSetting.Type)] = [
        ("$argon2id$", Argon2idSetting.self), ("$pbkdf2", PBKDF2Setting.self),
        ("pbkdf2_", PBKDF2Setting.self), ("$scrypt$", ScryptSetting.self),
        ("$fbscrypt$", FirebaseScryptSetting.self), ("$2", BcryptSetting.self),
        ("$6$", SHACryptSetting.self), ("$5$", SHACryptSetting.self),
        ("$1$", SHACryptSetting.self), ("$y$", YescryptSetting.self), ("$7$", YescryptSetting.self),
    ]

    /// Reads a text that ends with a digest, or with another field in its place.
    ///
    /// - Returns: the setting, and the text of the last field.
    static func read(
        _ text: Substring
    ) throws(PasswordHashFault) -> (setting: any HashSetting, last: Substring) {
        guard let type = types.first(where: { text.utf8.starts(with: $0.prefix.utf8) })?.type else {
            throw .unsupported
        }
        let end: Substring.Index
        if type == BcryptSetting.self {
            // Its digest follows the salt without a separator.
            end =
                text.utf8.index(
                    text.startIndex, offsetBy: BcryptSetting.textCount, limitedBy: text.endIndex)
                ?? text.endIndex
        } else {
            end =
                text.utf8.lastIndex(of: UInt8(ascii: "$")).map { text.utf8.index(after: $0) }
                ?? text.endIndex
        }
        return (try type.init(text[..<end]), text[end...])
    }
}
