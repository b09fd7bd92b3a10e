package import Ledger

/// Creates the proof of a subject, by an issuer's word unless the methods are others.
package func proof(
    _ subject: Subject, email: Email? = nil,
    authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000),
    methods: AuthenticationMethods = .federated
) -> Proof {
    Proof(subject, authenticatedAt: authenticatedAt, methods: methods, email: email)
}

/// Creates the proof of an e-mail address for the provider `email`.
package func addressProof(
    _ address: String, new: AddressID,
    authenticatedAt: Timestamp = Timestamp(seconds: 1_000_000_000), challenge: ChallengeID? = nil
) -> Proof {
    Proof(
        subject("email", new.description), authenticatedAt: authenticatedAt,
        methods: .oneTimePassword, email: Email(address, isVerified: true),
        address: ProvedAddress(
            kind: .email, text: address,
            names: [
                AddressName(kind: .email, digest: sha256(Array(address.utf8)), key: "key")
            ], newID: new),
        challenge: challenge)
}

extension Credential {
    /// Creates a credential that proves a subject, or an invalid one of the subject's provider.
    package init(
        _ subject: Subject, email: Email? = nil, digest: Digest, isInvalid: Bool = false
    ) {
        self.init(
            provider: subject.provider, digest: digest,
            check: isInvalid
                ? .failure(.invalid)
                : .success(LedgerTestSupport.proof(subject, email: email)))
    }
}

extension SignIn {
    /// Creates a sign-in with an e-mail address.
    package init(
        address: String, challenge: ChallengeID? = nil, _ generator: inout SeededGenerator
    ) {
        self.init(
            addressProof(
                address, new: generator.id(), challenge: challenge),
            createAccount: true, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
    }

    /// Creates a sign-up with an e-mail address and the hash of a password.
    package init(
        address: String, password hash: String, _ generator: inout SeededGenerator
    ) {
        let proved = addressProof(address, new: generator.id())
        self.init(
            Proof(
                subject("password", proved.subject.providerID),
                authenticatedAt: proved.authenticatedAt, methods: .password, email: proved.email,
                address: proved.address, newPassword: NewPassword(hash: hash)),
            createAccount: true, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
    }
}
