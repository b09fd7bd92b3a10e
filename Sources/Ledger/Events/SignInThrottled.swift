/// So many wrong passwords were tried for an identity that further ones are refused for a while.
///
/// Repeated refusals within the window of a budget are one event.
package struct SignInThrottled: EventFact {
    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName

    /// States which identity's passwords were tried.
    package init(account: AccountID, identity: IdentityID, provider: ProviderName) {
        self.account = account
        self.identity = identity
        self.provider = provider
    }

    package var outcome: Event.Outcome { .refused }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("identity", identity.description), ("provider", provider.description),
        ])
    }

    package var verb: String { "was refused for too many wrong passwords of" }

    package var attributes: EventAttributes {
        EventAttributes(reason: "rate_limited", provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        identity = try reader.id("identity")
        provider = try reader.provider()
        try reader.end()
    }
}
