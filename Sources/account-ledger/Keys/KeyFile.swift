import Cryptography
import Encodings

/// A file in a key directory, identified by its name.
enum KeyFile: Hashable {
    /// A key that signs access tokens, a private JWK; named by its thumbprint.
    case token(id: String)
    /// A key that wraps account keys, 32 bytes; named by its fingerprint.
    case encryption(id: String)
    /// A key that authenticates events and decision state, 32 bytes; named by its id.
    case mac(id: String)
    /// A key that is mixed into hashes of passwords, 32 bytes; named by its fingerprint.
    case pepper(id: String)
    /// The key that authenticates refresh tokens, 32 bytes.
    case refresh
    /// A key of the development identity provider, a private JWK; named by the provider.
    case developmentProvider(name: String)
    /// The keys in use, where a kind has several.
    case current
    /// An empty file: there may be logs without protection, which a former release began.
    case unprotectedLogs

    var name: String {
        switch self {
        case .token(let id): "token-\(id).jwk"
        case .encryption(let id): "encryption-\(id).key"
        case .mac(let id): "mac-\(id).key"
        case .pepper(let id): "pepper-\(id).key"
        case .refresh: "refresh.key"
        case .developmentProvider(let name): "dev-idp-\(name).jwk"
        case .current: "current"
        case .unprotectedLogs: "unprotected-logs"
        }
    }

    /// Parses a file name; nil for an unknown file.
    init?(name: String) {
        switch name {
        case KeyFile.refresh.name: self = .refresh
        case KeyFile.current.name: self = .current
        case KeyFile.unprotectedLogs.name: self = .unprotectedLogs
        default:
            if let id = Self.middle(of: name, between: "token-", and: ".jwk") {
                self = .token(id: id)
            } else if let id = Self.middle(of: name, between: "encryption-", and: ".key") {
                self = .encryption(id: id)
            } else if let id = Self.middle(of: name, between: "mac-", and: ".key") {
                self = .mac(id: id)
            } else if let id = Self.middle(of: name, between: "pepper-", and: ".key") {
                self = .pepper(id: id)
            } else if let id = Self.middle(of: name, between: "dev-idp-", and: ".jwk") {
                self = .developmentProvider(name: id)
            } else {
                return nil
            }
        }
    }

    /// The name of an encryption key or a pepper: the first 16 hexadecimal digits of its SHA-256.
    static func fingerprint(of key: [UInt8]) -> String {
        Hex.encode(Array(SHA256.hash(key).prefix(8)))
    }

    private static func middle(
        of name: String, between prefix: String, and suffix: String
    ) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix),
            name.utf8.count > prefix.utf8.count + suffix.utf8.count
        else { return nil }
        return String(name.dropFirst(prefix.count).dropLast(suffix.count))
    }
}
