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

    /// The cause of an unlink.
    package enum Cause: Hashable, Sendable {
        /// The account holder asked for it; written as version 1.
        case asked
        /// The account of an anonymous identity got another one.
        case upgraded(Upgrade)
        /// Support planned it, and it was due or a second person agreed.
        case support
        /// Another person proved the address that the account had claimed.
        case addressLost
    }

    /// The causes that versions after the first name.
    private enum Word: String, CaseIterable {
        case upgraded
        case support
        case addressLost = "address_lost"
    }

    package let account: AccountID
    package let identity: IdentityID
    package let provider: ProviderName
    package let cause: Cause
    /// The reason why a plan of support took effect; `due` for any other cause.
    package let effect: PlanEffect

    /// States which identity was unlinked from which account, and why.
    package init(
        account: AccountID, identity: IdentityID, provider: ProviderName, cause: Cause = .asked,
        effect: PlanEffect = .due
    ) {
        self.account = account
        self.identity = identity
        self.provider = provider
        self.cause = cause
        self.effect = cause == .support ? effect : .due
    }

    /// The replacement of an anonymous identity; nil for any other cause.
    package var upgrade: Upgrade? {
        if case .upgraded(let upgrade) = cause { upgrade } else { nil }
    }

    /// Checks whether the account passes to the person who proved its address, as an unlink of this cause by the
    /// account itself states.
    package func handsOver(by actor: Actor) -> Bool {
        guard cause == .addressLost, case .account(account, _) = actor else { return false }
        return true
    }

    private var word: Word? {
        switch cause {
        case .asked: nil
        case .upgraded: .upgraded
        case .support: .support
        case .addressLost: .addressLost
        }
    }

    package static let newestVersion = 3
    package var version: Int {
        switch cause {
        case .asked: 1
        case .upgraded, .addressLost: 2
        case .support: effect == .unstated ? 2 : 3
        }
    }
    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [account] }

    package var details: EntryDetails {
        EntryDetails([
            ("asker", effect.asker?.id.description),
            ("asker_type", effect.asker?.kind.rawValue),
            ("auth_time", upgrade?.authenticatedAt.description), ("cause", word?.rawValue),
            ("identity", identity.description), ("methods", upgrade?.methods.description),
            ("provider", provider.description), ("session", upgrade?.session?.description),
            ("successor", upgrade?.successor.description),
        ])
    }

    package var verb: String {
        switch cause {
        case .asked: "unlinked"
        case .upgraded: "upgraded from"
        case .support: "lost an identity by support"
        case .addressLost: "lost an identity with a claimed address"
        }
    }

    package var attributes: EventAttributes {
        EventAttributes(
            reason: word?.rawValue, provider: provider, identity: identity,
            session: upgrade?.session)
    }

    package var requiredDisclosures: [Disclosure.Name] {
        switch cause {
        case .asked, .upgraded: [.clientIP]
        case .support: effect.requiredDisclosures
        case .addressLost: []
        }
    }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        account = try onlyAccount(accounts)
        var reader = details.reader
        guard details.version >= 2 else {
            identity = try reader.id("identity")
            provider = try reader.provider()
            cause = .asked
            effect = .due
            try reader.end()
            return
        }
        // Version 3 is of support alone.
        let isByPlan = details.version >= 3
        let asker = try isByPlan ? reader.optionalAsker(role: .support) : nil
        let authenticatedAt = try reader.optionalTime("auth_time")
        let word: Word = try reader.word("cause")
        guard word == .support || !isByPlan else { throw .malformed("details.cause") }
        effect = word != .support ? .due : isByPlan ? PlanEffect(asker: asker) : .unstated
        identity = try reader.id("identity")
        switch (word, authenticatedAt) {
        case (.upgraded, let authenticatedAt?):
            let methods = try reader.methods()
            provider = try reader.provider()
            let session: SessionID? = try reader.optionalID("session")
            cause = .upgraded(
                Upgrade(
                    successor: try reader.id("successor"), session: session,
                    authenticatedAt: authenticatedAt, methods: methods))
        case (.support, nil):
            provider = try reader.provider()
            cause = .support
        case (.addressLost, nil):
            provider = try reader.provider()
            cause = .addressLost
        case (.upgraded, nil), (.support, _?), (.addressLost, _?):
            throw .malformed("details.auth_time")
        }
        try reader.end()
    }
}
