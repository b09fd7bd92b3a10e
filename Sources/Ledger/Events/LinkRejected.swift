/// A link was refused because of its proof.
package struct LinkRejected: EventFact {
    /// The reason why the proof was refused.
    package enum Reason: String, Sendable, CaseIterable {
        case invalidIDToken = "invalid_id_token"
    }

    package let account: AccountID
    package let provider: ProviderName
    package let reason: Reason

    /// States which link was refused and why.
    package init(account: AccountID, provider: ProviderName, reason: Reason) {
        self.account = account
        self.provider = provider
        self.reason = reason
    }

    package var outcome: Event.Outcome { .refused }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("provider", provider.description), ("reason", reason.rawValue)])
    }

    package var verb: String { "could not link" }

    package var attributes: EventAttributes {
        EventAttributes(reason: reason.rawValue, provider: provider)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        provider = try reader.provider()
        reason = try reader.word("reason")
        try reader.end()
    }
}
