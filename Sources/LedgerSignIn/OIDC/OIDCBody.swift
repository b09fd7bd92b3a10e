internal import Cryptography
internal import Ledger

/// The credential of an OpenID Connect issuer as a client presents it.
package struct OIDCBody: Sendable {
    package let idToken: String
    /// The nonce that the client generated; nil when it sent none.
    package let nonce: String?

    /// Describes a credential.
    package init(idToken: String, nonce: String?) {
        self.idToken = idToken
        self.nonce = nonce
    }

    /// SHA-256 of the ID token.
    var digest: Digest {
        guard let digest = Digest(SHA256.hash(idToken)) else {
            preconditionFailure("SHA-256 has 32 bytes")
        }
        return digest
    }
}
