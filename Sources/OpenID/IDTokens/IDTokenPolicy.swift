package import Cryptography

/// The requirements for the ID tokens of one identity provider.
package struct IDTokenPolicy: Sendable {
    /// The relation between a token's `nonce` and the client's.
    package enum NonceMode: String, Sendable {
        /// The token contains the client's nonce unchanged.
        case raw
        /// The token contains the lower-case hexadecimal SHA-256 of the client's nonce.
        case sha256
        /// Nonces are ignored on both sides.
        case none
    }

    /// Accepted spellings of `iss`, of which one must match byte for byte, or the templates of them.
    package let issuers: [String]
    /// Our client identifiers; one must be in `aud`.
    package let audiences: [String]
    /// Accepted signature algorithms.
    package let algorithms: Set<SignatureAlgorithm>
    /// How nonces are compared.
    package let nonce: NonceMode
    /// Whether a sign-in without a nonce is refused; no effect when nonces are ignored.
    package let nonceRequired: Bool
    /// How a token names its person.
    package let subject: SubjectForm
    /// The accepted difference between the provider's clock and ours, in seconds.
    package let leewaySeconds: Int64

    /// Creates a policy; the leeway must be 0 to 600 seconds.
    package init(
        issuers: [String], audiences: [String], algorithms: Set<SignatureAlgorithm>,
        nonce: NonceMode, nonceRequired: Bool = false, subject: SubjectForm = .sub,
        leewaySeconds: Int64 = 60
    ) {
        precondition((0...600).contains(leewaySeconds), "a leeway is 0 to 600 seconds")
        self.issuers = issuers
        self.audiences = audiences
        self.algorithms = algorithms
        self.nonce = nonce
        self.nonceRequired = nonceRequired
        self.subject = subject
        self.leewaySeconds = leewaySeconds
    }
}
