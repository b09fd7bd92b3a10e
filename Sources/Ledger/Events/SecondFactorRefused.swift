/// A person proved an identity of an account, and no second factor.
///
/// Repeated refusals within the window of a budget are one event.
package struct SecondFactorRefused: EventFact {
    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName

    /// States whose identity was proved.
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

    package var verb: String { "was refused for a wrong second factor after" }

    package var attributes: EventAttributes {
        EventAttributes(reason: "second_factor", provider: provider, identity: identity)
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
