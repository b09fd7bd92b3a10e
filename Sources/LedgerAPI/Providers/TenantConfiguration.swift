package import Ledger

/// What is configured for one tenant.
package final class TenantConfiguration: Sendable {
    /// The rules that decisions depend on; its providers are exactly those of `providers`.
    package let policy: TenantPolicy
    /// How each provider's ID tokens are checked.
    package let providers: [ProviderName: ProviderConfiguration]

    /// Describes a tenant.
    ///
    /// - Parameters:
    ///   - providers: at most one of each name; of two, the later counts.
    ///   - policy: every rule but the providers, which are replaced.
    package init(providers: [ProviderConfiguration], policy: TenantPolicy) {
        self.providers = Dictionary(providers.map { ($0.name, $0) }) { _, later in later }
        var policy = policy
        policy.providers = Set(self.providers.keys)
        self.policy = policy
    }

    /// How a provider is called in messages; also one that left the configuration.
    package func displayName(of provider: ProviderName) -> String {
        providers[provider]?.displayName ?? ProviderConfiguration.capitalized(provider)
    }
}
