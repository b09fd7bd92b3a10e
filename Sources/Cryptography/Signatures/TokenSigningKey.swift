/// An ES256 key pair that signs access tokens.
package final class TokenSigningKey: Sendable {
    /// The id of the key in a token's header: its RFC 7638 SHA-256 thumbprint.
    package let keyID: String

    /// The public JWK as JSON text, with `use`, `alg` and `kid`, for a published key set.
    package let publicJWK: String

    /// The public half, for checking tokens in the same process.
    package let verificationKey: VerificationKey

    private let key: PrivateKey

    /// Reads a private JWK of type EC on the curve P-256 in the form of `exported()`.
    ///
    /// Nil for anything else, and when the private and the public part do not match.
    package convenience init?(exported jwk: [UInt8]) {
        guard let key = PrivateKey(jwk: jwk, algorithm: .es256) else {
            return nil
        }
        self.init(key)
    }

    /// Reads a private key on the curve P-256 in PKCS #8 (RFC 5208); nil for anything else.
    package convenience init?(pkcs8 bytes: [UInt8]) {
        guard let key = PrivateKey.p256(pkcs8: bytes) else { return nil }
        self.init(key)
    }

    private init(_ key: PrivateKey) {
        self.key = key
        self.keyID = key.keyID
        self.verificationKey = key.verificationKey
        self.publicJWK = key.parameters.published(algorithm: .es256)
    }

    /// Creates a new random key.
    ///
    /// Its id doesn't begin with a dash: a command line would take it for an option.
    package static func generate() -> TokenSigningKey {
        while true {
            let key = TokenSigningKey(.generateP256())
            if !key.keyID.hasPrefix("-") { return key }
        }
    }

    /// Exports the private key as a JWK, which the caller must keep secret.
    package func exported() -> [UInt8] {
        key.jwk()
    }

    /// Returns a signer of tokens of one type, whose header has exactly `alg`, `kid` and `typ`.
    package func signer(type: String) -> TokenSigner {
        let header = [("alg", SignatureAlgorithm.es256.rawValue), ("kid", keyID), ("typ", type)]
        return TokenSigner(key, .es256, header: header)
    }

    /// Returns a signer of tokens whose header has exactly `alg` and a key id of another service.
    package func signer(keyID: String) -> TokenSigner {
        TokenSigner(
            key, .es256,
            header: [("alg", SignatureAlgorithm.es256.rawValue), ("kid", keyID)])
    }

    /// Signs claims and returns a compact JWS whose header has exactly `alg`, `kid` and `typ`.
    ///
    /// The claims are JSON and are signed unchanged. They must not be empty.
    package func sign(claims: [UInt8], type: String) -> String {
        signer(type: type).sign(claims)
    }
}
