/// Why a question about the past has no answer: nothing that is wrong with the account.
package enum HistoryFault: Error, Hashable, Sendable {
    /// The log has not come to the position that was asked about; it has so many events.
    case notReached(size: Int64)
    /// The later moment is before the earlier one.
    case backwards
    /// The database is away or slow.
    case unavailable
    /// What is stored is not what was written; says where and what, without personal data.
    case damaged(String)
}

/// What it rests on that an account has no further event up to a moment.
package enum HistoryBasis: String, Hashable, Sendable {
    /// The log alone: the account's next event names the last one, or everything after that was looked
    /// through.
    case log
    /// Decision state, which names the last event: more of the log lies behind it than was looked
    /// through.
    case decisionState = "decision_state"
}

/// An account as of a moment.
package struct AccountAsOf: Sendable {
    package let account: ReplayedAccount
    package let basis: HistoryBasis
    /// The last event of the log at that moment; nil before the first.
    package let asOf: LogMark?
    package let log: LogExtent

    /// Pairs an account with the moment that it is shown at.
    package init(
        account: ReplayedAccount, basis: HistoryBasis, asOf: LogMark?, log: LogExtent
    ) {
        self.account = account
        self.basis = basis
        self.asOf = asOf
        self.log = log
    }
}

/// Some of an account's events, in order and without one left out.
package struct HistoryPage: Sendable {
    /// Each names the one before it, back to the one that the page follows on.
    package let events: [ReplayedEvent]
    /// How many events touch the account up to ``asOf``, by the `seq` of the last; nil unless the page
    /// reaches it.
    package let eventCount: Int64?
    /// What it rests on that it was the last; nil unless the page reaches it.
    package let basis: HistoryBasis?
    /// The last event of the log that was looked at; nil before the first.
    package let asOf: LogMark?
    package let log: LogExtent

    /// Collects a page.
    package init(
        events: [ReplayedEvent], eventCount: Int64?, basis: HistoryBasis?, asOf: LogMark?,
        log: LogExtent
    ) {
        self.events = events
        self.eventCount = eventCount
        self.basis = basis
        self.asOf = asOf
        self.log = log
    }
}

/// An account at two moments, and its events in between.
package struct AccountChanges: Sendable {
    package let difference: AccountDifference
    /// The last event of the log at the earlier moment; nil before the first.
    package let from: LogMark?
    /// What happened after the earlier moment, from its first event on.
    package let page: HistoryPage

    /// Pairs what changed with the events that changed it.
    package init(difference: AccountDifference, from: LogMark?, page: HistoryPage) {
        self.difference = difference
        self.from = from
        self.page = page
    }
}

/// Answers about the past, replayed from the log and checked on the way.
///
/// Each event of an account has the next `seq` and names the one before it, and nothing lies between
/// the last one and the moment that is asked about; ``HistoryBasis`` says who vouches for that. What
/// cannot be answered so is a fault and not an answer.
package protocol HistoryReader: Sendable {
    /// An account as of a moment, by default as of now; nil when the log does not know it.
    func account(
        _ account: AccountID, asOf moment: Moment?, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountAsOf?

    /// The events that touch an account, at most `limit` after a position and up to a moment; nil when
    /// the log does not know the account.
    ///
    /// The position is nil for the first page, else that of the last event of the page before. Personal
    /// data is only decrypted when disclosing.
    func history(
        of account: AccountID, after position: LogPosition?, asOf moment: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> HistoryPage?

    /// What changed about an account between two moments; nil when the log does not know it.
    func changes(
        of account: AccountID, from earlier: Moment, to later: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountChanges?

    /// The events of an account and of every account that merges made one with it, in commit order and at
    /// most `limit` behind a cursor; nil when the log does not know the account.
    ///
    /// The moment is that of the cursor, where there is one.
    func timeline(
        of account: AccountID, after cursor: TimelineCursor?, asOf moment: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> TimelinePage?
}
