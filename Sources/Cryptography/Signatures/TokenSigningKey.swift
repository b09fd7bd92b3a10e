/// An ES256 key pair that signs access tokens.
package final class TokenSigningKey: Sendable {
    /// The id of the key in a token's header: its RFC 7638 SHA-256 thumbprint.
    package let keyID: String

    /// The public JWK as JSON text, with `use`, `alg` and `kid`, for a published key set.
    package let publicJWK: String

    /// The public half, for checking tokens in the same process.
    package let verificationKey: VerificationKey

    private let pair: SigningKeyPair
    private let privateKey: P256PrivateKey

    /// Reads a private JWK of type EC on the curve P-256 in the form of `exported()`.
    ///
    /// Nil for anything else, and when the private and the public part do not match.
    package convenience init?(exported jwk: [UInt8]) {
        guard let pair = SigningKeyPair(privateJWK: jwk, algorithm: .es256) else {
            return nil
        }
        self.init(pair)
    }

    /// Nil when OpenSSL and cjose read different keys from the JWK.
    private init?(_ pair: SigningKeyPair) {
        guard
            let key = P256PrivateKey(pair.parameters, privateJWK: pair.handle.json())
        else {
            return nil
        }
        self.pair = pair
        self.privateKey = key
        self.keyID = pair.keyID
        self.verificationKey = pair.verificationKey
        self.publicJWK = pair.parameters.published(algorithm: .es256)
        let trial = sign(claims: Array("{}".utf8), type: "JWT")
        guard CompactJWS.verify(trial, with: verificationKey, allowing: [.es256]) != nil else {
            return nil
        }
    }

    /// Makes a new random key.
    package static func generate() -> TokenSigningKey {
        guard let key = TokenSigningKey(SigningKeyPair(generated: .generateP256())) else {
            preconditionFailure("a generated key can't be used")
        }
        return key
    }

    /// Exports the private key as a JWK, which the caller must keep secret.
    package func exported() -> [UInt8] {
        pair.handle.json()
    }

    /// Returns a signer of tokens of one type, whose header has exactly `alg`, `kid` and `typ`.
    package func signer(type: String) -> TokenSigner {
        TokenSigner(privateKey, keyID: keyID, type: type)
    }

    /// Signs claims and returns a compact JWS whose header has exactly `alg`, `kid` and `typ`.
    ///
    /// The claims are JSON and are signed unchanged. They must not be empty.
    package func sign(claims: [UInt8], type: String) -> String {
        signer(type: type).sign(claims)
    }
}
