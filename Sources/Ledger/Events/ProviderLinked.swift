/// An identity was linked to an account.
package struct ProviderLinked: EventFact {
    /// The cause of a link.
    package enum Cause: String, Sendable, CaseIterable {
        /// The account holder asked for it.
        case link
        /// It is the identity that opened the account.
        case signUp = "sign_up"
        /// It is the anonymous identity that opened the account.
        case anonymous
        /// It was imported from another system.
        case imported
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

    package static let newestVersion = 2
    private static let laterCauses: Set<Cause> = [.anonymous, .imported]

    package var version: Int { Self.laterCauses.contains(cause) ? 2 : 1 }
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
        case .signUp, .anonymous: "signed up with"
        case .imported: "was imported with"
        case .relink: "was relinked with"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(
            reason: [.relink, .anonymous, .imported].contains(cause) ? cause.rawValue : nil,
            provider: provider, identity: identity)
    }

    package var requiredDisclosures: [Disclosure.Name] {
        switch cause {
        case .link, .signUp, .anonymous: [.clientIP, .providerID]
        case .imported: [.providerID]
        case .relink: [.caseReference, .providerID, .reason]
        }
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        cause = try reader.word("cause")
        guard Self.laterCauses.contains(cause) == (details.version >= 2) else {
            throw .malformed("details.cause")
        }
        identity = try reader.id("identity")
        provider = try reader.provider()
        try reader.end()
    }
}
