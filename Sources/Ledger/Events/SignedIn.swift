/// An identity opened a session of the account that it belongs to.
package struct SignedIn: EventFact {
    package let account: AccountID
    /// When the person proved who they are, in whole seconds; a refresh does not move it.
    package let authenticatedAt: Timestamp
    package let identity: IdentityID
    package let provider: ProviderName
    package let session: SessionID

    /// States which identity opened which session.
    package init(
        account: AccountID, authenticatedAt: Timestamp, identity: IdentityID,
        provider: ProviderName, session: SessionID
    ) {
        self.account = account
        self.authenticatedAt = Timestamp(seconds: authenticatedAt.seconds)
        self.identity = identity
        self.provider = provider
        self.session = session
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("auth_time", authenticatedAt.description), ("identity", identity.description),
            ("provider", provider.description), ("session", session.description),
        ])
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        authenticatedAt = try reader.time("auth_time")
        identity = try reader.id("identity")
        provider = try reader.provider()
        session = try reader.id("session")
        try reader.end()
    }
}
