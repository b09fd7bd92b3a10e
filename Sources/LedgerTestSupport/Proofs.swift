package import Ledger

/// Creates the proof of a subject, by an issuer's word unless the methods are others.
package func proof(
    _ subject: Subject, email: Email? = nil,
    authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000),
    methods: AuthenticationMethods = .federated
) -> Proof {
    Proof(subject, authenticatedAt: authenticatedAt, methods: methods, email: email)
}

extension Credential {
    /// Creates a credential that proves a subject, or an invalid one of the subject's provider.
    package init(
        _ subject: Subject, email: Email? = nil, digest: Digest, isInvalid: Bool = false
    ) {
        self.init(
            provider: subject.provider, digest: digest,
            check: isInvalid ? .failure(.invalid) : .success(proof(subject, email: email)))
    }
}
