/// The state of an account after its history.
package struct Account: Hashable, Sendable {
    /// One identity that belongs to the account.
    package struct Link: Hashable, Sendable {
        package let identity: IdentityID
        package let provider: ProviderName
        /// When the link was recorded.
        package let linkedAt: Timestamp
        /// The position of the `ProviderLinked`.
        package let position: LogPosition

        /// Describes a link.
        package init(
            identity: IdentityID, provider: ProviderName, linkedAt: Timestamp,
            position: LogPosition
        ) {
            self.identity = identity
            self.provider = provider
            self.linkedAt = linkedAt
            self.position = position
        }
    }

    package let id: AccountID
    /// The position of the `AccountOpened`.
    package let openedPosition: LogPosition
    /// The number of events that touch the account so far.
    package internal(set) var nextSequence: Int64
    /// The leaf hash of the last event that touches the account.
    package internal(set) var lastLeaf: Digest
    /// The position of the last event that touches the account.
    package internal(set) var lastPosition: LogPosition
    /// The identities that can sign in to the account, in linking order.
    package internal(set) var links: [Link]
    /// The legal holds that prevent its erasure, in the order in which they were set.
    package internal(set) var holds: [HoldID]
    /// The position of the `AccountErased`; nil while the account is not erased.
    ///
    /// An erased account has no links and no holds, and no further event touches it.
    package internal(set) var erasedPosition: LogPosition?
    /// The position of the `AccountDisabled` since which nothing signs in to it; nil while it is enabled.
    ///
    /// A disabled account has no live sessions.
    package internal(set) var disabledPosition: LogPosition?
    /// The position since which it belongs to the person who proved the address that it had only claimed; nil when it
    /// was never handed over.
    ///
    /// An identity that was linked before may be the former holder's.
    package internal(set) var handedOverPosition: LogPosition?
    /// The second factors, in the order of their enrolment, without recovery codes: with one, every sign-in
    /// needs one of them.
    ///
    /// Those of accounts that it absorbed follow its own, in the order of the merges.
    /// An absorbed account keeps the list that it had, so that the undoing of the merge gives exactly those back.
    package internal(set) var secondFactors: [FactorID]
    /// The account that absorbed it; nil while it is not merged.
    ///
    /// An absorbed account has no links and no live sessions.
    package internal(set) var mergedInto: AccountID?
    /// The merges by which it absorbed others, without undone ones, in log order.
    package internal(set) var merges: [Merge] = []

    /// Describes an account.
    package init(
        id: AccountID, openedPosition: LogPosition, nextSequence: Int64, lastLeaf: Digest,
        lastPosition: LogPosition, links: [Link], holds: [HoldID] = [],
        erasedPosition: LogPosition? = nil, disabledPosition: LogPosition? = nil,
        handedOverPosition: LogPosition? = nil,
        secondFactors: [FactorID] = [], mergedInto: AccountID? = nil
    ) {
        self.id = id
        self.openedPosition = openedPosition
        self.nextSequence = nextSequence
        self.lastLeaf = lastLeaf
        self.lastPosition = lastPosition
        self.links = links
        self.holds = holds
        self.erasedPosition = erasedPosition
        self.disabledPosition = disabledPosition
        self.handedOverPosition = handedOverPosition
        self.secondFactors = secondFactors
        self.mergedInto = mergedInto
    }

    /// The linked providers in linking order, without duplicates.
    package var linkedProviders: [ProviderName] { links.providers }

    /// Appends an event to the account's own history.
    mutating func touch(_ reference: AccountReference, leaf: Digest, at position: LogPosition) {
        nextSequence = reference.sequence + 1
        lastLeaf = leaf
        lastPosition = position
    }
}

extension [Account.Link] {
    /// Their providers, without duplicates.
    var providers: [ProviderName] {
        var names: [ProviderName] = []
        for link in self where !names.contains(link.provider) {
            names.append(link.provider)
        }
        return names
    }
}

/// The state of an identity in the log: its account, and its last account.
package struct Identity: Hashable, Sendable {
    package let id: IdentityID
    package let provider: ProviderName
    /// The account that it belongs to; nil after an unlink.
    package internal(set) var account: AccountID?
    /// The account that it belongs to or belonged to last.
    package internal(set) var lastAccount: AccountID
    /// When the last link was recorded.
    package internal(set) var linkedAt: Timestamp
    /// The position of the last `ProviderLinked`.
    package internal(set) var linkedPosition: LogPosition
    /// When it is unlinked, because support planned it; nil otherwise.
    ///
    /// The plan is about the link: it ends when the identity leaves the account.
    package internal(set) var unlinkDue: Timestamp?

    /// Describes an identity.
    package init(
        id: IdentityID, provider: ProviderName, account: AccountID?, lastAccount: AccountID,
        linkedAt: Timestamp, linkedPosition: LogPosition, unlinkDue: Timestamp? = nil
    ) {
        self.id = id
        self.provider = provider
        self.account = account
        self.lastAccount = lastAccount
        self.linkedAt = linkedAt
        self.linkedPosition = linkedPosition
        self.unlinkDue = unlinkDue
    }
}

/// The state of a refresh-token family in the log.
package struct Session: Hashable, Sendable {
    package let id: SessionID
    package let account: AccountID
    /// The identity that opened it, or the successor of an anonymous one: its unlink ends the session.
    package private(set) var identity: IdentityID
    package private(set) var authenticatedAt: Timestamp
    /// The methods of authentication.
    package private(set) var methods: AuthenticationMethods
    package let openedAt: Timestamp
    /// The position of the `SignedIn`.
    package let openedPosition: LogPosition
    /// The position of the event that ended it; nil while it is live.
    package internal(set) var endedPosition: LogPosition?

    /// When its second factor was used, if its methods include one.
    var secondFactorUsedAt: Timestamp {
        methods.includesIssuersSecondFactor ? authenticatedAt : openedAt
    }

    /// Describes a session.
    package init(
        id: SessionID, account: AccountID, identity: IdentityID, authenticatedAt: Timestamp,
        methods: AuthenticationMethods, openedAt: Timestamp, openedPosition: LogPosition,
        endedPosition: LogPosition?
    ) {
        self.id = id
        self.account = account
        self.identity = identity
        self.authenticatedAt = authenticatedAt
        self.methods = methods
        self.openedAt = openedAt
        self.openedPosition = openedPosition
        self.endedPosition = endedPosition
    }

    /// Describes a session as its event opens it.
    package init(_ fact: SignedIn, at position: LogPosition, _ time: Timestamp) {
        self.init(
            id: fact.session, account: fact.account, identity: fact.identity,
            authenticatedAt: fact.authenticatedAt, methods: fact.methods, openedAt: time,
            openedPosition: position, endedPosition: nil)
    }

    /// Makes it the session of the identity that replaces an anonymous one.
    package mutating func upgrade(_ upgrade: ProviderUnlinked.Upgrade) {
        identity = upgrade.successor
        authenticatedAt = upgrade.authenticatedAt
        methods = upgrade.methods
    }
}

/// Returns the links by which their account can be signed in to: those whose provider the rules have.
///
/// The one rule for the last way to sign in, which no command of an account holder or of support
/// removes. Where a command takes a way, the last use of a phone number counts, too: `DecisionState.usableWays`.
package func waysToSignIn(
    _ links: some Sequence<Account.Link>, _ rules: TenantPolicy
) -> [Account.Link] {
    links.filter { rules.providers[$0.provider] != nil }
}
