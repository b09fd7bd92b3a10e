internal import Cryptography
internal import Encodings
package import Ledger

/// The text of an API key: `alk_`, a 16-byte identifier, `_`, 32 random bytes, both in base64url.
///
/// The prefix lets secret scanners find keys that were published by mistake.
package struct APIKey: Sendable {
    private static let prefix = "alk_"
    private static let separator = UInt8(ascii: "_")
    private static let idCharacters = 22
    private static let secretBytes = 32
    private static let secretCharacters = 43

    package let id: APIKeyID
    /// The secret half; only its digest is ever stored.
    private let secret: [UInt8]

    /// Creates a new key.
    package init(id: APIKeyID) {
        self.id = id
        secret = SecureRandom.bytes(Self.secretBytes)
    }

    /// Reads the only valid spelling of a key; nil for anything else.
    package init?(_ text: String) {
        guard let (id, rest) = Self.parts(of: text), rest.first == Self.separator,
            rest.count == 1 + Self.secretCharacters,
            let secret = Base64URL.decode(String(decoding: rest.dropFirst(), as: UTF8.self))
        else { return nil }
        self.id = id
        self.secret = secret
    }

    /// Returns the id from a bare id, a whole key, or the part of a key that contains its id.
    ///
    /// For an operator who finds a key where none should be; the secret half is not examined.
    package static func id(named text: String) -> APIKeyID? {
        if let id = APIKeyID(text) { return id }
        guard let (id, rest) = parts(of: text), rest.isEmpty || rest.first == separator else {
            return nil
        }
        return id
    }

    /// Returns the id that a key begins with, and the rest of the text.
    private static func parts(of text: String) -> (id: APIKeyID, rest: ArraySlice<UInt8>)? {
        let bytes = Array(text.utf8)
        guard bytes.starts(with: prefix.utf8) else { return nil }
        let id = bytes.dropFirst(prefix.utf8.count).prefix(idCharacters)
        guard id.count == idCharacters,
            let decoded = Base64URL.decode(String(decoding: id, as: UTF8.self))
        else { return nil }
        return (
            APIKeyID(bits: decoded.reduce(0) { $0 << 8 | UInt128($1) }), bytes[id.endIndex...]
        )
    }

    /// The text that the key's holder keeps; a secret.
    package var text: String {
        let bits = id.bits
        let bytes = stride(from: 120, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: bits >> UInt128($0))
        }
        return "\(Self.prefix)\(Base64URL.encode(bytes))_\(Base64URL.encode(secret))"
    }

    /// The stored digest of the secret: 256 random bits need no slower hash.
    package var secretDigest: Digest? { Digest(SHA256.hash(secret)) }

    /// Checks whether this is the stored key of the same id, in constant time.
    package func matches(_ stored: StoredAPIKey) -> Bool {
        stored.id == id && constantTimeEqual(stored.secretDigest.bytes, SHA256.hash(secret))
    }
}
