internal import Cryptography
package import Ledger

/// The text of an API key: `alk_`, 16 bytes that name it, `_`, 32 random bytes, both in base64url.
///
/// The prefix lets secret scanners find keys that were published by mistake.
package struct APIKey: Sendable {
    private static let prefix = "alk_"
    private static let idCharacters = 22
    private static let secretBytes = 32
    private static let secretCharacters = 43

    package let id: APIKeyID
    /// Only the digest is ever stored.
    private let secret: [UInt8]

    /// Makes a new key.
    package init(id: APIKeyID) {
        self.id = id
        secret = SecureRandom.bytes(Self.secretBytes)
    }

    /// Reads a key's one spelling; nil for anything else.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let idStart = Self.prefix.utf8.count
        let idEnd = idStart + Self.idCharacters
        guard bytes.count == idEnd + 1 + Self.secretCharacters,
            bytes.starts(with: Self.prefix.utf8), bytes[idEnd] == UInt8(ascii: "_"),
            let id = Base64URL.decode(String(decoding: bytes[idStart..<idEnd], as: UTF8.self)),
            let secret = Base64URL.decode(String(decoding: bytes[(idEnd + 1)...], as: UTF8.self))
        else { return nil }
        self.id = APIKeyID(bits: id.reduce(0) { $0 << 8 | UInt128($1) })
        self.secret = secret
    }

    /// The text that its holder keeps; a secret.
    package var text: String {
        let bits = id.bits
        let bytes = stride(from: 120, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: bits >> UInt128($0))
        }
        return "\(Self.prefix)\(Base64URL.encode(bytes))_\(Base64URL.encode(secret))"
    }

    /// What is stored of the secret: 256 random bits need no slower hash.
    package var secretDigest: Digest? { Digest(SHA256.hash(secret)) }

    /// Whether it is the stored key of its name; takes the same time however much of it is right.
    package func matches(_ stored: StoredAPIKey) -> Bool {
        stored.id == id && constantTimeEqual(stored.secretDigest.bytes, SHA256.hash(secret))
    }
}
