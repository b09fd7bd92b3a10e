/// One event of a timeline, for all accounts that it touches.
package struct TimelineRow: Sendable {
    /// An account's links before and after an event, in linking order.
    package struct Change: Hashable, Sendable {
        package let before: [Account.Link]
        package let after: [Account.Link]

        /// Whether the event changed no link.
        package var isEmpty: Bool { before == after }

        /// Pairs both.
        init(before: [Account.Link], after: [Account.Link]) {
            self.before = before
            self.after = after
        }
    }

    package let recorded: RecordedEvent
    /// By account of the timeline; other accounts that the event touches are not replayed.
    package fileprivate(set) var changes: [AccountID: Change] = [:]
    /// The event's disclosures about an account of the timeline; nil when disclosure was not
    /// requested.
    package fileprivate(set) var disclosed: DisclosedValues?

    /// Creates a row without replayed accounts.
    init(_ recorded: RecordedEvent) {
        self.recorded = recorded
    }
}

/// An account of a timeline, as of its moment.
package struct TimelineAccount: Hashable, Sendable {
    package let id: AccountID
    package let status: ReplayedAccount.Status
    /// The account that absorbed it; nil for the survivor of all.
    package let mergedInto: AccountID?
    /// The position and time of the `AccountOpened`; nil before it.
    package let opened: LogMark?
    /// The number of events that touch it: `seq` 0 to one less, each naming its predecessor.
    package let eventCount: Int64
    /// The evidence that there is no further event.
    package let basis: HistoryBasis

    init(_ replayed: ReplayedAccount, basis: HistoryBasis) {
        id = replayed.id
        status = replayed.status
        mergedInto = replayed.mergedInto
        opened = replayed.opened
        eventCount = replayed.eventCount
        self.basis = basis
    }
}

/// A page of the events of an account and of all accounts merged with it, in commit order or in the
/// reverse one.
package struct TimelinePage: Sendable {
    /// The requested account.
    package let requested: AccountID
    /// The survivor of all, then the others in the order of their opening.
    package let accounts: [TimelineAccount]
    /// The events, without duplicates.
    package private(set) var rows: [TimelineRow]
    /// The number of events that touch any of the accounts up to ``asOf``, on all pages.
    package let eventCount: Int64
    /// Whether more events follow the last row.
    package let hasMore: Bool
    /// The last event of the log that was scanned; nil before the first.
    package let asOf: LogMark?
    package let log: LogExtent

    /// The survivor of all accounts.
    package var survivor: AccountID { accounts.first?.id ?? requested }

    /// The evidence that no account has a further event: the weakest of all accounts.
    package var basis: HistoryBasis {
        accounts.contains { $0.basis == .decisionState } ? .decisionState : .log
    }

    /// The details for the access log: the accounts whose histories are shown, if there are
    /// several.
    ///
    /// Merges join at most ``MergeAccounts/familyMax`` accounts.
    package var accessDetails: [String: String] {
        guard accounts.count > 1 else { return [:] }
        return ["accounts": accounts.map(\.id.description).joined(separator: " ")]
    }

    /// The cursor of the next page; nil when the page has no rows.
    package var next: TimelineCursor? {
        guard let last = rows.last, let asOf else { return nil }
        return TimelineCursor(position: last.recorded.position, asOf: asOf.position)
    }

    /// The positions of the rows that may disclose something: the data of an account outside of the
    /// timeline stay hidden.
    package var disclosablePositions: [LogPosition] {
        let own = Set(accounts.map(\.id))
        return rows.map(\.recorded).filter { recorded in
            recorded.accounts.first.map { own.contains($0.id) } ?? false
        }.map(\.position)
    }

    /// Adds the disclosures of the events.
    ///
    /// - Parameter values: by position, of ``disclosablePositions``; a missing position discloses
    ///   nothing.
    package mutating func disclose(_ values: [LogPosition: DisclosedValues]) {
        for index in rows.indices {
            rows[index].disclosed = values[rows[index].recorded.position] ?? DisclosedValues()
        }
    }
}

/// Interleaves the histories of merged accounts, which are replayed one after another.
///
/// Each history is replayed from its beginning, so that the account's links are known on every
/// page; only the rows of one page are kept.
package struct TimelineFold: Sendable {
    /// The account whose history must be replayed next, from its first event on; nil when none is
    /// left.
    package private(set) var wanted: AccountID?

    private let requested: AccountID
    private let tenant: TenantID
    private let order: ReadingOrder
    private let after: LogPosition?
    private let limit: Int
    private var replayed: ReplayedAccount
    private var queue: [AccountID] = []
    private var known: Set<AccountID>
    private var finished: [AccountID: TimelineAccount] = [:]
    private var rows: [LogPosition: TimelineRow] = [:]
    /// The last position in the order that can be on the page, or prove that more rows follow.
    private var cut: LogPosition?
    private var eventCount: Int64 = 0

    /// Starts the timeline of an account.
    ///
    /// - Parameters:
    ///   - account: any of the merged accounts.
    ///   - tenant: the tenant of the log.
    ///   - position: the last position in the order that is not listed; nil to start with the first.
    ///   - limit: the maximum number of rows.
    ///   - order: the order of the rows.
    package init(
        of account: AccountID, in tenant: TenantID, after position: LogPosition?, limit: Int,
        order: ReadingOrder = .oldest
    ) {
        requested = account
        self.tenant = tenant
        self.order = order
        after = position
        self.limit = limit
        wanted = account
        known = [account]
        replayed = ReplayedAccount(account, in: tenant)
    }

    /// Applies the next event of the wanted account.
    ///
    /// - Throws: `FoldFault` when it cannot follow.
    package mutating func apply(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        let before = replayed.links
        try replayed.apply(recorded, leaf: leaf)
        if !recorded.accounts.contains(where: { finished[$0.id] != nil }) { eventCount += 1 }
        let position = recorded.position
        guard after.map({ order.isAfter(position, $0) }) ?? true,
            cut.map({ !order.isAfter(position, $0) }) ?? true
        else { return }
        rows[position, default: TimelineRow(recorded)].changes[replayed.id] =
            TimelineRow.Change(before: before, after: replayed.links)
        if rows.count > 2 * limit { dropSurplus() }
    }

    /// Ends the wanted account's history and selects the next account.
    ///
    /// - Parameter basis: the evidence that it has no further event.
    /// - Throws: `HistoryFault.damaged` when more accounts are merged than the rules allow.
    package mutating func finish(_ basis: HistoryBasis) throws(HistoryFault) {
        finished[replayed.id] = TimelineAccount(replayed, basis: basis)
        let others = replayed.merges.map(\.absorbed) + (replayed.mergedInto.map { [$0] } ?? [])
        for other in others where known.insert(other).inserted { queue.append(other) }
        guard known.count <= MergeAccounts.familyMax else {
            throw .damaged("too many accounts are merged")
        }
        wanted = queue.popLast()
        if let wanted { replayed = ReplayedAccount(wanted, in: tenant) }
    }

    /// Returns the page.
    ///
    /// - Precondition: no account is left to replay.
    package func page(asOf: LogMark?, log: LogExtent) -> TimelinePage {
        precondition(wanted == nil, "a history is missing")
        let listed = positions.prefix(limit)
        return TimelinePage(
            requested: requested, accounts: finished.values.sorted(by: Self.comesBefore),
            rows: listed.compactMap { rows[$0] }, eventCount: eventCount,
            hasMore: rows.count > listed.count, asOf: asOf, log: log)
    }

    private mutating func dropSurplus() {
        let positions = positions
        cut = positions[limit]
        for position in positions.dropFirst(limit + 1) { rows[position] = nil }
    }

    /// The positions of the rows, in the order of the page.
    private var positions: [LogPosition] { rows.keys.sorted { order.isAfter($1, $0) } }

    private static func comesBefore(_ left: TimelineAccount, _ right: TimelineAccount) -> Bool {
        guard (left.mergedInto == nil) == (right.mergedInto == nil) else {
            return left.mergedInto == nil
        }
        let ranks = [left, right].map { $0.opened?.position ?? LogPosition(-1) }
        return ranks[0] == ranks[1]
            ? left.id.description < right.id.description : ranks[0] < ranks[1]
    }
}
