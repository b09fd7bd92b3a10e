/// An identity was unlinked from an account, which ends the sessions that it opened there.
package struct ProviderUnlinked: EventFact {
    /// The end of an anonymous identity, because its account got another identity.
    package struct Upgrade: Hashable, Sendable {
        /// The other identity.
        package let successor: IdentityID
        /// The session that stays and becomes the successor's: that of the request, if the anonymous
        /// identity opened it.
        ///
        /// The other sessions end, because a thief of the anonymous secret may have opened them.
        package let session: SessionID?
        /// The time of authentication with the successor, in whole seconds.
        package let authenticatedAt: Timestamp
        /// The methods of authentication with the successor.
        package let methods: AuthenticationMethods

        /// States what replaces an anonymous identity.
        package init(
            successor: IdentityID, session: SessionID?, authenticatedAt: Timestamp,
            methods: AuthenticationMethods
        ) {
            self.successor = successor
            self.session = session
            self.authenticatedAt = authenticatedAt
            self.methods = methods
        }
    }

    /// The causes that version 2 names.
    private enum Cause: String, CaseIterable {
        case upgraded
    }

    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName
    /// Nil if the account holder asked for the unlink, which is written as version 1.
    package let upgrade: Upgrade?

    /// States which identity was unlinked from which account.
    package init(
        account: AccountID, identity: IdentityID, provider: ProviderName, upgrade: Upgrade? = nil
    ) {
        self.account = account
        self.identity = identity
        self.provider = provider
        self.upgrade = upgrade
    }

    package static let newestVersion = 2
    package var version: Int { upgrade == nil ? 1 : 2 }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("auth_time", upgrade?.authenticatedAt.description),
            ("cause", upgrade.map { _ in Cause.upgraded.rawValue }),
            ("identity", identity.description), ("methods", upgrade?.methods.description),
            ("provider", provider.description), ("session", upgrade?.session?.description),
            ("successor", upgrade?.successor.description),
        ])
    }

    package var verb: String { upgrade == nil ? "unlinked" : "upgraded from" }

    package var attributes: EventAttributes {
        EventAttributes(
            reason: upgrade.map { _ in Cause.upgraded.rawValue }, provider: provider,
            identity: identity,
            session: upgrade?.session)
    }

    package var requiredDisclosures: [Disclosure.Name] { [.clientIP] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        guard details.version >= 2 else {
            identity = try reader.id("identity")
            provider = try reader.provider()
            upgrade = nil
            try reader.end()
            return
        }
        let authenticatedAt = try reader.time("auth_time")
        let _: Cause = try reader.word("cause")
        identity = try reader.id("identity")
        let methods = try reader.methods()
        provider = try reader.provider()
        let session: SessionID? = try reader.optionalID("session")
        upgrade = Upgrade(
            successor: try reader.id("successor"), session: session,
            authenticatedAt: authenticatedAt, methods: methods)
        try reader.end()
    }
}
