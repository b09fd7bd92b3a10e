/// What a command that was done gives back.
package enum Reply: Hashable, Sendable {
    /// A ledger was opened, or was open before.
    case opened
    /// It is written down that a key took another's place.
    case keyRotated
    /// A session was opened.
    case signedIn(Grant, isNewUser: Bool)
    /// An identity was linked; the account's providers in linking order.
    case linked([ProviderName])
    /// An identity was unlinked; the account's providers in linking order.
    case unlinked([ProviderName])
    /// Sessions ended.
    case signedOut
    /// A refresh token was exchanged.
    case refreshed(Grant, RefreshTokenState.Exchange)
    /// An account is erased; the position of its `AccountErased`, which this command appended or one
    /// before it, and every account that this command erased, itself included; of an erasure before it the
    /// account alone.
    case erased(at: LogPosition, isNew: Bool, covering: [AccountID])
    /// What an erasure would cover and take away.
    case erasurePlanned(ErasurePlan, ErasureLosses)
    /// A legal hold was set.
    case holdSet(HoldID)
    /// A legal hold was lifted.
    case holdLifted
    /// A restore was recorded, at this position.
    case restoreRecorded(at: LogPosition)
    /// What a merge would do, and the digest of that.
    case mergePlanned(MergePlan, Digest)
    /// Accounts were merged as planned, by this event; nil until it is recorded.
    case merged(MergePlan, EventID?)
    /// What taking a merge back would do.
    case unmergePlanned(UnmergeAccounts.Plan)
    /// A merge was taken back as planned, by this event; nil until it is recorded.
    case unmerged(UnmergeAccounts.Plan, EventID?)
    /// What linking an identity again would do.
    case relinkPlanned(RelinkProvider.Plan)
    /// An identity was linked again as planned, by this event; nil until it is recorded.
    case relinked(RelinkProvider.Plan, EventID?)

    /// The same with the name of the event that was recorded, where it has none yet.
    package func naming(_ recorded: some BidirectionalCollection<Recording>) -> Reply {
        switch self {
        case .merged(let plan, let event): .merged(plan, event ?? recorded.last?.recorded.id)
        case .unmerged(let plan, let event): .unmerged(plan, event ?? recorded.last?.recorded.id)
        case .relinked(let plan, let event): .relinked(plan, event ?? recorded.last?.recorded.id)
        case .opened, .keyRotated, .signedIn, .linked, .unlinked, .signedOut, .refreshed, .erased,
            .erasurePlanned, .holdSet, .holdLifted, .restoreRecorded, .mergePlanned,
            .unmergePlanned,
            .relinkPlanned:
            self
        }
    }
}

/// What an access token is made from.
package struct Grant: Hashable, Sendable {
    package let account: AccountID
    package let session: SessionID
    package let authenticatedAt: Timestamp
    package let methods: AuthenticationMethods
    package let linkedProviders: [ProviderName]

    /// Describes whose session it is.
    package init(
        account: AccountID, session: SessionID, authenticatedAt: Timestamp,
        methods: AuthenticationMethods, linkedProviders: [ProviderName]
    ) {
        self.account = account
        self.session = session
        self.authenticatedAt = authenticatedAt
        self.methods = methods
        self.linkedProviders = linkedProviders
    }
}
