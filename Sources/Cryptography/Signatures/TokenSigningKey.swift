/// An ES256 key pair that signs access tokens.
package final class TokenSigningKey: Sendable {
    /// Names the key in a token's header: its RFC 7638 SHA-256 thumbprint.
    package let keyID: String

    /// The public JWK as JSON text, with `use`, `alg` and `kid`, for a published key set.
    package let publicJWK: String

    /// The public half, for checking tokens in the same process.
    package let verificationKey: VerificationKey

    private let pair: SigningKeyPair

    /// Reads a private JWK of type EC on the curve P-256, as `exported()` writes it.
    ///
    /// Nil for anything else, and when the private and the public part don't belong together.
    package convenience init?(exported jwk: [UInt8]) {
        guard let pair = SigningKeyPair(privateJWK: jwk, algorithm: .es256) else {
            return nil
        }
        self.init(pair)
    }

    private init(_ pair: SigningKeyPair) {
        self.pair = pair
        self.keyID = pair.keyID
        self.verificationKey = pair.verificationKey
        self.publicJWK = pair.parameters.published(algorithm: .es256)
    }

    /// Makes a new random key.
    package static func generate() -> TokenSigningKey {
        TokenSigningKey(SigningKeyPair(generated: .generateP256()))
    }

    /// Writes the private key as a JWK; a secret that whoever calls this must keep.
    package func exported() -> [UInt8] {
        pair.handle.json()
    }

    /// Signs claims and returns a compact JWS whose header has exactly `alg`, `kid` and `typ`.
    ///
    /// The claims are JSON and are signed as they are. They must not be empty.
    package func sign(claims: [UInt8], type: String) -> String {
        pair.sign(
            header: [
                (name: "alg", value: SignatureAlgorithm.es256.rawValue),
                (name: "kid", value: keyID),
                (name: "typ", value: type),
            ], payload: claims)
    }
}
