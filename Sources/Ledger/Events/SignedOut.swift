/// The account holder ended a session, or all sessions of the account.
package struct SignedOut: EventFact {
    /// The scope of a sign-out.
    package enum Scope: String, Sendable, CaseIterable {
        /// Every live session of the account.
        case everywhere
        /// The requesting session.
        case session
    }

    package let account: AccountID
    package let scope: Scope
    /// The requesting session.
    package let session: SessionID

    /// States which session requested the sign-out, and whether the others ended too.
    package init(account: AccountID, scope: Scope, session: SessionID) {
        self.account = account
        self.scope = scope
        self.session = session
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("scope", scope.rawValue), ("session", session.description)])
    }

    package var verb: String {
        switch scope {
        case .session: "signed out"
        case .everywhere: "signed out everywhere"
        }
    }

    package var attributes: EventAttributes { EventAttributes(session: session) }
    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        scope = try reader.word("scope")
        session = try reader.id("session")
        try reader.end()
    }
}
