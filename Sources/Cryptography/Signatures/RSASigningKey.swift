/// An RSA key pair that signs the tokens of a development identity provider.
package final class RSASigningKey: Sendable {
    /// The id of the key: its RFC 7638 SHA-256 thumbprint.
    package let keyID: String

    /// The public JWK as JSON text, with `use`, `alg` RS256 and `kid`, for a published key set.
    package let publicJWK: String

    /// The public half, for checking tokens in the same process.
    package let verificationKey: VerificationKey

    private let key: PrivateKey

    /// Reads a private JWK of type RSA in the form of `exported()`.
    ///
    /// Nil for anything else, for keys under 2048 bits, and when the private and the public part do not
    /// match.
    package convenience init?(exported jwk: [UInt8]) {
        guard let key = PrivateKey(jwk: jwk, algorithm: .rs256) else {
            return nil
        }
        self.init(key)
    }

    private init(_ key: PrivateKey) {
        self.key = key
        self.keyID = key.keyID
        self.verificationKey = key.verificationKey
        self.publicJWK = key.parameters.published(algorithm: .rs256)
    }

    /// Creates a new random key of 2048 to 8192 bits, a multiple of 8; takes a tenth of a second.
    package static func generate(bits: Int = 2048) -> RSASigningKey {
        precondition(
            bits >= JWKParameters.modulusBitsMin && bits <= JWKParameters.modulusBitsMax
                && bits.isMultiple(of: 8), "an RSA key has 2048 to 8192 bits")
        return RSASigningKey(.generateRSA(bits: bits))
    }

    /// Exports the private key as a JWK, which the caller must keep secret.
    package func exported() -> [UInt8] {
        key.jwk()
    }

    /// Signs claims with exactly the given header fields, sorted by name.
    ///
    /// The field `alg` is RS256 when it is missing, and must be RS256, RS384, RS512 or PS256. A
    /// `kid` is not added: pass `keyID`. The claims must not be empty.
    package func sign(header: [String: String], claims: [UInt8]) -> String {
        let defaults = ["alg": SignatureAlgorithm.rs256.rawValue]
        let fields = defaults.merging(header) { _, given in given }
        guard
            let algorithm = fields["alg"].flatMap(SignatureAlgorithm.init(rawValue:)),
            algorithm.fits(key.parameters)
        else {
            preconditionFailure("an RSA key signs with RSA algorithms only")
        }
        let sorted = fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        return TokenSigner(key, algorithm, header: sorted).sign(claims)
    }
}
