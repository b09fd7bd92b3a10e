/// The planned unlink of an identity was stopped.
package struct ProviderUnlinkStopped: EventFact {
    /// The cause of a stop.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder asked for it.
        case holder
        /// The identity was the last way to sign in when the unlink was due.
        case onlyProvider = "only_provider"
        /// Support asked for it.
        case support
    }

    package let account: AccountID
    package let cause: Cause
    package let identity: IdentityID
    package let provider: ProviderName

    /// States which identity stays.
    package init(
        account: AccountID, cause: Cause, identity: IdentityID, provider: ProviderName
    ) {
        self.account = account
        self.cause = cause
        self.identity = identity
        self.provider = provider
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("cause", cause.rawValue), ("identity", identity.description),
            ("provider", provider.description),
        ])
    }

    package var verb: String {
        switch cause {
        case .holder: "stopped the unlink of an identity"
        case .onlyProvider: "keeps its last way to sign in"
        case .support: "keeps an identity by support"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(reason: cause.rawValue, provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] {
        switch cause {
        case .holder: [.clientIP]
        case .onlyProvider: []
        case .support: [.caseReference, .reason]
        }
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        cause = try reader.word("cause")
        identity = try reader.id("identity")
        provider = try reader.provider()
        try reader.end()
    }
}
