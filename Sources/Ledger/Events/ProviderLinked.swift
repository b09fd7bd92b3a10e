/// An identity was linked to an account.
package struct ProviderLinked: EventFact {
    /// The cause of a link.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder asked for it.
        case link
        /// It is the identity that opened the account.
        case signUp = "sign_up"
        /// Support undid an unlink.
        case relink
    }

    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName
    package let cause: Cause

    /// States which identity was linked to which account.
    package init(account: AccountID, identity: IdentityID, provider: ProviderName, cause: Cause) {
        self.account = account
        self.identity = identity
        self.provider = provider
        self.cause = cause
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
        case .link: "linked"
        case .signUp: "signed up with"
        case .relink: "was relinked with"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(
            reason: cause == .relink ? cause.rawValue : nil, provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] {
        switch cause {
        case .link, .signUp: [.clientIP, .providerID]
        case .relink: [.caseReference, .providerID, .reason]
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
