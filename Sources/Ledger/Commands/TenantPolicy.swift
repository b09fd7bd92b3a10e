/// At most so many in any stretch of so long.
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
package struct TenantPolicy: Sendable {
    /// The providers that can be signed in with now: those of the configuration.
    package var providers: Set<ProviderName>
    /// Whether an account may have several identities of one provider.
    package var severalPerProvider: Bool
    /// Whether an ID token that opened a session opens no other one a little later.
    package var singleUseIDTokens = false
    /// Link attempts an account.
    package var linkBudget = Budget(limit: 5, windowSeconds: 3600)
    /// Sign-ins an identity.
    package var signInBudget = Budget(limit: 60, windowSeconds: 3600)
    /// How long ago, in seconds, a caller may have proved who they are for an unlink.
    package var reauthenticationSeconds: Int64 = 600
    /// How long, in seconds, a session lives without being refreshed.
    package var sessionIdleSeconds: Int64 = 30 * 86_400
    /// How long, in seconds, a session lives at most.
    package var sessionLifetimeSeconds: Int64 = 365 * 86_400
    /// How long, in seconds, the preceding refresh token gives the same successor again.
    package var refreshGraceSeconds: Int64 = 10

    /// Describes a tenant's rules; everything but the providers has the contract's value.
    package init(providers: Set<ProviderName>, severalPerProvider: Bool = false) {
        self.providers = providers
        self.severalPerProvider = severalPerProvider
    }
}
