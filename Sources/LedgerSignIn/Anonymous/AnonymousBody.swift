internal import Cryptography
internal import Encodings
internal import Ledger

/// The credential of an anonymous account: a secret that the ledger made for it.
package struct AnonymousBody: Sendable {
    /// The number of random bytes of a secret.
    private static let byteCount = 32

    package let secret: String
    /// Whether the secret is a new one, of an account that is to be opened.
    package let isNew: Bool
    /// The text by which the operator's service decides whether the account is opened; nil without such a service.
    let attestation: String?

    /// Describes a secret that a client presents.
    package init(secret: String) {
        self.secret = secret
        isNew = false
        attestation = nil
    }

    /// Makes the secret of a new account: 256 random bits as base64url.
    package init(attestation: String? = nil) {
        secret = Base64URL.encode(SecureRandom.bytes(Self.byteCount))
        isNew = true
        self.attestation = attestation
    }

    /// SHA-256 of the secret.
    var digest: Digest {
        guard let digest = Digest(SHA256.hash(secret)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }

    /// Whether the text can be a secret that the ledger made.
    var isWellFormed: Bool { Base64URL.decode(secret)?.count == Self.byteCount }
}
