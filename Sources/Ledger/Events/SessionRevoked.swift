/// The ledger itself ended a session.
package struct SessionRevoked: EventFact {
    /// The reason for ending a session.
    package enum Reason: String, Sendable, CaseIterable {
        /// A refresh token was used a second time, so one of two holders stole it.
        case refreshTokenReused = "refresh_token_reused"
    }

    package let account: AccountID
    package let reason: Reason
    package let session: SessionID

    /// States which session was ended and why.
    package init(account: AccountID, reason: Reason, session: SessionID) {
        self.account = account
        self.reason = reason
        self.session = session
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([("reason", reason.rawValue), ("session", session.description)])
    }

    package var verb: String { "had a session revoked" }

    package var attributes: EventAttributes {
        EventAttributes(reason: reason.rawValue, session: session)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        reason = try reader.word("reason")
        session = try reader.id("session")
        try reader.end()
    }
}
