/// An unlink was refused.
package struct UnlinkRejected: EventFact {
    /// The rule that refused it.
    package enum Reason: String, Sendable, CaseIterable {
        /// The account would have no way to sign in.
        case onlyProvider = "only_provider"
        /// The caller's authentication is too old.
        case reauthenticationRequired = "reauthentication_required"
    }

    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName
    package let reason: Reason

    /// States which unlink was refused and why.
    package init(
        account: AccountID, identity: IdentityID, provider: ProviderName, reason: Reason
    ) {
        self.account = account
        self.identity = identity
        self.provider = provider
        self.reason = reason
    }

    package var outcome: Event.Outcome { .refused }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("identity", identity.description), ("provider", provider.description),
            ("reason", reason.rawValue),
        ])
    }

    package var verb: String { "could not unlink" }

    package var attributes: EventAttributes {
        EventAttributes(reason: reason.rawValue, provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        identity = try reader.id("identity")
        provider = try reader.provider()
        reason = try reader.word("reason")
        try reader.end()
    }
}
