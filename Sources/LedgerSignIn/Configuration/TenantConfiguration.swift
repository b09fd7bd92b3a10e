package import Ledger
package import LedgerMessages

/// The configuration of one tenant.
package final class TenantConfiguration: Sendable {
    /// The rules that decisions depend on; those about providers are exactly those of `providers`.
    package let policy: TenantPolicy
    /// The configuration of each provider.
    package let providers: [ProviderName: ProviderConfiguration]
    /// The configuration of messages to people.
    package let messages: MessageSettings
    /// The local parts of e-mail addresses that it takes.
    package let localParts: EmailLocalParts
    /// The addresses to which browser flows may return.
    package let returnAddresses: ReturnAddresses
    /// The systems whose external ids stand in access tokens.
    package let tokenSources: [NameSource]

    /// The maximum number of systems whose external ids stand in access tokens.
    package static let tokenSourcesMax = 8

    /// Describes a tenant.
    ///
    /// - Parameters:
    ///   - providers: if a name occurs more than once, the last one counts.
    ///   - policy: every rule but those about providers, which are replaced.
    ///   - messages: the configuration of messages.
    ///   - localParts: the local parts of e-mail addresses that it takes.
    ///   - returnAddresses: the addresses to which browser flows may return.
    ///   - tokenSources: the systems whose external ids stand in access tokens.
    package init(
        providers: [ProviderConfiguration], policy: TenantPolicy,
        messages: MessageSettings = MessageSettings(), localParts: EmailLocalParts = .ascii,
        returnAddresses: ReturnAddresses = ReturnAddresses(), tokenSources: [NameSource] = []
    ) {
        self.messages = messages
        self.localParts = localParts
        self.returnAddresses = returnAddresses
        self.tokenSources = tokenSources
        self.providers = Dictionary(providers.map { ($0.name, $0) }) { _, later in later }
        var policy = policy
        policy.providers = self.providers.mapValues(\.pin)
        (policy.secondFactorMethods, policy.counterRollbackProviders) = ([:], [])
        for (name, provider) in self.providers {
            provider.settings.addRules(of: name, to: &policy)
        }
        self.policy = policy
    }

    /// The language of notices; nil if no provider finds accounts by addresses, so that no account has one.
    package var noticeLanguage: MessageLanguage? {
        policy.providers.values.contains { $0.type.addressKind != nil } ? messages.language : nil
    }

    /// The notices by SMS within an hour, apart from the codes: neither use up the others.
    package var noticeTextsMax: Int { max(1, messages.smsPerHour / 5) }

    /// Whether messages of a channel may go to an address.
    package func maySend(by channel: MessageChannel, to address: String) -> Bool {
        switch channel {
        case .email: true
        case .sms: CodeSettings(kind: .phone).mayReceive(address, under: messages)
        }
    }

    /// Returns a provider's name in messages, also when it has left the configuration.
    package func displayName(of provider: ProviderName) -> String {
        providers[provider]?.displayName ?? ProviderConfiguration.capitalized(provider)
    }
}
