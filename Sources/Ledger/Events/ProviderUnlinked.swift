/// An identity was unlinked from an account, which ends the sessions that it opened there.
package struct ProviderUnlinked: EventFact {
    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName

    /// States which identity was unlinked from which account.
    package init(account: AccountID, identity: IdentityID, provider: ProviderName) {
        self.account = account
        self.identity = identity
        self.provider = provider
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("identity", identity.description), ("provider", provider.description)])
    }

    package var verb: String { "unlinked" }

    package var attributes: EventAttributes {
        EventAttributes(provider: provider, identity: identity)
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
