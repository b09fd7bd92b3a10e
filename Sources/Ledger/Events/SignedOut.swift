/// The account holder ended a session, or all sessions of the account.
package struct SignedOut: EventFact {
    /// What was ended.
    package enum Scope: String, Sendable, CaseIterable {
        /// Every live session of the account.
        case everywhere
        /// The session that asked.
        case session
    }

    package let account: AccountID
    package let scope: Scope
    /// The session that asked.
    package let session: SessionID

    /// States which session ended, and whether the others did too.
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

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        scope = try reader.word("scope")
        session = try reader.id("session")
        try reader.end()
    }
}
