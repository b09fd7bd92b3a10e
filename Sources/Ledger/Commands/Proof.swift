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
    /// The address that it proves, by which the account and its identity are found; ``subject`` is then that of an
    /// address that no account has.
    package let address: ProvedAddress?
    /// The challenge that it answers: the command that succeeds by it ends it.
    package let challenge: ChallengeID?
    /// The password that was checked: the command refuses it when it has been replaced since.
    package let password: PasswordVersion?
    /// The password that the identity gets when it is linked.
    package let newPassword: NewPassword?
    /// The passkey that was registered or used.
    package let passkey: PasskeyProof?
    /// The challenge of a passkey or the code of a browser flow: the command that succeeds by it uses it up.
    package let usedUp: SingleUseIDToken?
    /// Whether it is a claim: an unproved address with a new password, to be confirmed later.
    package let isClaim: Bool

    /// Describes a proof.
    package init(
        _ subject: Subject, authenticatedAt: Timestamp, methods: AuthenticationMethods,
        email: Email?, singleUse: SingleUseIDToken? = nil, address: ProvedAddress? = nil,
        challenge: ChallengeID? = nil, password: PasswordVersion? = nil,
        newPassword: NewPassword? = nil, passkey: PasskeyProof? = nil,
        usedUp: SingleUseIDToken? = nil, isClaim: Bool = false
    ) {
        self.isClaim = isClaim
        self.subject = subject
        self.authenticatedAt = authenticatedAt
        self.methods = methods
        self.email = email
        self.singleUse = singleUse
        self.address = address
        self.challenge = challenge
        self.password = password
        self.newPassword = newPassword
        self.passkey = passkey
        self.usedUp = usedUp
    }

    /// Returns the event and the change by which an identity gets the new password or key; empty without them.
    func passwordSet(
        _ cause: PasswordSet.Cause, of identity: IdentityID, for account: AccountID, by actor: Actor
    ) -> (drafts: [Decision.Draft], effects: [Decision.Effect]) {
        if let key = passkey?.registered {
            let fact = PasskeyRegistered(account: account, identity: identity)
            return (
                [.init(.passkeyRegistered(fact), actor: actor)], [.passwordStored(identity, key)]
            )
        }
        guard let newPassword else { return ([], []) }
        let fact = PasswordSet(account: account, identity: identity, cause: cause)
        return (
            [.init(.passwordSet(fact), actor: actor)], [.passwordStored(identity, newPassword)]
        )
    }

    /// The changes that the use of the proof makes.
    var used: [Decision.Effect] {
        var effects: [Decision.Effect] = challenge.map { [.challengeSpent($0)] } ?? []
        if let usedUp { effects.append(.idTokenSpent(usedUp, authenticatedAt)) }
        if let version = passkey?.version, let renewed = passkey?.renewed {
            effects.append(.passwordStored(version.identity, renewed))
        }
        return effects
    }

    /// Whether it proves the address itself, and not only that its password is known.
    var provesAddress: Bool {
        address != nil && !isClaim && (password == nil || challenge != nil)
    }

    /// Whether it ends the claims that other accounts have to its address.
    package var endsOtherClaims: Bool { provesAddress && password == nil }

    /// Whether it opens an account or links an identity, and nothing that is linked already.
    var isRegistration: Bool { newPassword != nil || passkey?.registered != nil }

    /// The refusal of a proof that is not current any more.
    var staleRefusal: Refusal {
        if usedUp != nil { return .invalidProviderToken }
        return password == nil || challenge != nil ? .invalidCode : .invalidPassword
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
        /// The code is wrong, or its challenge has ended.
        case wrongCode
        /// The address or the password is wrong.
        case wrongPassword
        /// Too many codes were tried; the seconds until another one is accepted.
        case limited(retryAfterSeconds: Int64)
        /// Strangers have tried too many passwords for the address; the seconds until one is tried without a code.
        case codeNeeded(retryAfterSeconds: Int64)

        /// The refusal that tells the caller.
        package var refusal: Refusal {
            switch self {
            case .invalid: .invalidProviderToken
            case .unavailable: .providerUnavailable
            case .unsupported: .unsupportedProvider
            case .wrongCode: .invalidCode
            case .wrongPassword: .invalidPassword
            case .limited(let seconds), .codeNeeded(let seconds):
                .rateLimited(retryAfterSeconds: seconds)
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

    /// The proof; nil when it proves nothing.
    package var proof: Proof? { try? check.get() }
}
