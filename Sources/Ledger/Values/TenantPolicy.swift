/// A sliding budget: a maximum count in any window of a given length.
package struct Budget: Hashable, Sendable {
    package let limit: Int
    package let windowSeconds: Int64

    /// Describes a sliding budget.
    package init(limit: Int, windowSeconds: Int64) {
        self.limit = limit
        self.windowSeconds = windowSeconds
    }
}

/// The rules of one tenant that decisions depend on.
///
/// Those of a log are recorded by ``RulesSet``; those of a process come from its configuration.
package struct TenantPolicy: Hashable, Sendable {
    /// The ``phoneUnusedDays`` of a tenant that states none.
    package static let phoneUnusedDaysDefault: Int64 = 180
    /// The ``supportDelayHours`` of a tenant that states none.
    package static let supportDelayHoursDefault: Int64 = 24
    /// The possible ``supportDelayHours``: a person has some time to stop what support planned, and at most a week.
    package static let supportDelayHoursRange: ClosedRange<Int64> = 1...168

    /// The providers that can be used to sign in, each with what its name stands for.
    package var providers: [ProviderName: ProviderPin]
    /// Whether an account may have several identities of one provider.
    package var severalPerProvider: Bool
    /// Whether an ID token that opened a session opens no other one after a short retry time.
    package var singleUseIDTokens = false
    /// Whether an erasure by an API key or a person of the staff needs another one's confirmation.
    package var eraseNeedsTwo = false
    /// Whether a password may be set for an address that is confirmed later.
    package var confirmLater = false
    /// The days without use after which a phone number may be another person's; 0 for never.
    package var phoneUnusedDays = TenantPolicy.phoneUnusedDaysDefault
    /// The hours between support's plan to remove a second factor or to unlink an identity, and its effect.
    package var supportDelayHours = TenantPolicy.supportDelayHoursDefault
    /// Whether a second person may do at once what support planned.
    package var supportNeedsTwo = false
    /// The values of an ID token's `amr` each of which satisfies an account's second factor, by provider.
    package var secondFactorMethods: [ProviderName: AuthenticationMethods] = [:]
    /// The providers of passkeys that accept a response whose counter did not go up.
    package var counterRollbackProviders: Set<ProviderName> = []
    /// Link attempts per account.
    package var linkBudget = Budget(limit: 5, windowSeconds: 3600)
    /// Sign-ins per identity.
    package var signInBudget = Budget(limit: 60, windowSeconds: 3600)
    /// The maximum age of the sign-in for a change of how an account is signed in to, in seconds.
    package var reauthenticationSeconds: Int64 = 600
    /// The time, in seconds, after which a session without a refresh ends.
    package var sessionIdleSeconds: Int64 = 30 * 86_400
    /// The maximum lifetime of a session, in seconds.
    package var sessionLifetimeSeconds: Int64 = 365 * 86_400
    /// The time, in seconds, in which the preceding refresh token returns the same successor.
    package var refreshGraceSeconds: Int64 = 10

    /// Whether a time, such as of a sign-in, is recent enough for a change of how an account is signed in to.
    func isRecent(_ time: Timestamp, at now: Timestamp) -> Bool {
        time >= now.adding(seconds: -reauthenticationSeconds)
    }

    /// Returns when a plan that support makes at a time takes effect.
    func supportDue(after time: Timestamp) -> Timestamp {
        time.adding(seconds: supportDelayHours &* 3_600)
    }

    /// Describes a tenant's rules; everything but the providers has the contract's value.
    package init(providers: [ProviderName: ProviderPin], severalPerProvider: Bool = false) {
        self.providers = providers
        self.severalPerProvider = severalPerProvider
    }

    /// Describes the rules of a tenant whose providers are of type `oidc` and have no known issuer.
    package init(providers: Set<ProviderName>, severalPerProvider: Bool = false) {
        self.init(
            providers: Dictionary(
                uniqueKeysWithValues: providers.map { ($0, ProviderPin(type: .oidc, issuers: [])) }),
            severalPerProvider: severalPerProvider)
    }
}
