/// Support planned to unlink an identity for the account holder.
///
/// It is unlinked when it is due, unless the person stops it.
package struct ProviderUnlinkPlanned: EventFact {
    package let account: AccountID
    /// When the identity is unlinked.
    package let due: Timestamp
    package let identity: IdentityID
    package let provider: ProviderName

    /// States which identity is to be unlinked, and when.
    package init(
        account: AccountID, due: Timestamp, identity: IdentityID, provider: ProviderName
    ) {
        self.account = account
        self.due = due
        self.identity = identity
        self.provider = provider
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("due", due.description), ("identity", identity.description),
            ("provider", provider.description),
        ])
    }

    package var verb: String { "will lose an identity by support" }

    package var attributes: EventAttributes {
        EventAttributes(provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.caseReference, .reason] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        due = try reader.time("due")
        identity = try reader.id("identity")
        provider = try reader.provider()
        try reader.end()
    }
}
