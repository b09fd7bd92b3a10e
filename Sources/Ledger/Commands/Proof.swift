/// The proof that a person is a provider's subject: each type of provider ends in one, and commands
/// learn nothing else about a sign-in.
///
/// It was made before the command was queued, so that no transaction waits for a provider.
package struct Proof: Hashable, Sendable {
    package let subject: Subject
    /// The time of authentication.
    package let authenticatedAt: Timestamp
    /// The methods of authentication.
    package let methods: AuthenticationMethods
    /// The address to disclose; nil when the provider states none.
    package let email: Email?
    /// The ID token, if each may be used for one sign-in only.
    package let singleUse: SingleUseIDToken?

    /// Describes a proof.
    package init(
        _ subject: Subject, authenticatedAt: Timestamp, methods: AuthenticationMethods,
        email: Email?, singleUse: SingleUseIDToken? = nil
    ) {
        self.subject = subject
        self.authenticatedAt = authenticatedAt
        self.methods = methods
        self.email = email
        self.singleUse = singleUse
    }
}

/// A credential that a client presented, and the result of its check before the command was queued.
///
/// For commands that append refusals or count attempts, which is why they take a failed check, too.
package struct Credential: Sendable {
    /// The reasons why a credential proves nothing.
    package enum Flaw: Error, Hashable, Sendable {
        /// It is not valid.
        case invalid
        /// It could not be checked, because the provider's keys could not be fetched.
        case unavailable
        /// The tenant has no such provider.
        case unsupported

        /// The refusal that tells the caller.
        package var refusal: Refusal {
            switch self {
            case .invalid: .invalidProviderToken
            case .unavailable: .providerUnavailable
            case .unsupported: .unsupportedProvider
            }
        }
    }

    package let provider: ProviderName
    /// The digest of the credential: the same one counts once against a budget.
    package let digest: KeyedDigest
    package let check: Result<Proof, Flaw>

    /// Describes a checked credential whose digest has no key.
    package init(provider: ProviderName, digest: Digest, check: Result<Proof, Flaw>) {
        self.init(provider: provider, digest: KeyedDigest(digest), check: check)
    }

    /// Describes a checked credential.
    package init(provider: ProviderName, digest: KeyedDigest, check: Result<Proof, Flaw>) {
        self.provider = provider
        self.digest = digest
        self.check = check
    }

    /// The subject that it proves; nil when it proves none.
    package var subject: Subject? {
        guard case .success(let proof) = check else { return nil }
        return proof.subject
    }
}
