/// The reasons why a question about the past has no answer; none is an error of the account.
package enum HistoryFault: Error, Hashable, Sendable {
    /// The log has not reached the position; it has this many events.
    case notReached(size: Int64)
    /// The later moment is before the earlier one.
    case backwards
    /// The database is unavailable or slow.
    case unavailable
    /// The stored data is damaged; says where and how, without personal data.
    case damaged(String)
}

/// The evidence that an account has no further event up to a moment.
package enum HistoryBasis: String, Hashable, Sendable {
    /// The log alone: the account's next event names the last one, or all events in between were
    /// scanned.
    case log
    /// Decision state, which names the last event: more of the log follows it than was scanned.
    case decisionState = "decision_state"
}

/// An account as of a moment.
package struct AccountAsOf: Sendable {
    package let account: ReplayedAccount
    package let basis: HistoryBasis
    /// The last event of the log at that moment; nil before the first.
    package let asOf: LogMark?
    package let log: LogExtent

    /// Pairs an account with a moment.
    package init(
        account: ReplayedAccount, basis: HistoryBasis, asOf: LogMark?, log: LogExtent
    ) {
        self.account = account
        self.basis = basis
        self.asOf = asOf
        self.log = log
    }
}

/// A gapless range of an account's events, in order.
package struct HistoryPage: Sendable {
    /// Each names its predecessor, from the one before the page on.
    package let events: [ReplayedEvent]
    /// The number of events that touch the account up to ``asOf``, by the last `seq`; nil unless
    /// the page reaches it.
    package let eventCount: Int64?
    /// The evidence that the last event is the last one; nil unless the page reaches it.
    package let basis: HistoryBasis?
    /// The last event of the log that was scanned; nil before the first.
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
    /// The events after the earlier moment, from the first one on.
    package let page: HistoryPage

    /// Pairs the changes with the events that made them.
    package init(difference: AccountDifference, from: LogMark?, page: HistoryPage) {
        self.difference = difference
        self.from = from
        self.page = page
    }
}

/// Reads about the past, replayed from the log and checked on the way.
///
/// Each event of an account has the next `seq` and names its predecessor, and none is missing
/// between the last one and the requested moment; ``HistoryBasis`` states the evidence for that. An
/// answer without this evidence is a fault.
package protocol HistoryReader: Sendable {
    /// Returns an account as of a moment, by default now; nil when it is not in the log.
    func account(
        _ account: AccountID, asOf moment: Moment?, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountAsOf?

    /// Returns the events that touch an account, at most `limit` after a position and up to a
    /// moment; nil when the account is not in the log.
    ///
    /// The position is nil for the first page, then that of the last event of the previous page.
    /// Personal data is decrypted only when disclosing.
    func history(
        of account: AccountID, after position: LogPosition?, asOf moment: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> HistoryPage?

    /// Returns the changes of an account between two moments; nil when it is not in the log.
    func changes(
        of account: AccountID, from earlier: Moment, to later: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountChanges?

    /// Returns the events of an account and of all accounts merged with it, in an order and at most
    /// `limit` after a cursor; nil when the account is not in the log.
    ///
    /// A cursor determines the moment.
    func timeline(
        of account: AccountID, _ order: ReadingOrder, after cursor: TimelineCursor?,
        asOf moment: Moment?, limit: Int, isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> TimelinePage?
}
