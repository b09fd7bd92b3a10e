/// One event of a timeline, for all accounts that it touches.
package struct TimelineRow: Sendable {
    /// What an account could be signed in with before and after an event, in linking order.
    package struct Change: Hashable, Sendable {
        package let before: [Account.Link]
        package let after: [Account.Link]

        /// Whether the event gave or took something.
        package var isEmpty: Bool { before == after }

        /// Pairs both.
        init(before: [Account.Link], after: [Account.Link]) {
            self.before = before
            self.after = after
        }
    }

    package let recorded: RecordedEvent
    /// By the accounts of the timeline; of another one that the event touches, nothing was replayed.
    package fileprivate(set) var changes: [AccountID: Change] = [:]
    /// What the event discloses about an account of the timeline; nil when nothing was to be disclosed.
    package fileprivate(set) var disclosed: DisclosedValues?

    /// An event of which no account was replayed yet.
    init(_ recorded: RecordedEvent) {
        self.recorded = recorded
    }
}

/// An account of a timeline, as of its moment.
package struct TimelineAccount: Hashable, Sendable {
    package let id: AccountID
    package let standing: ReplayedAccount.Standing
    /// The account that stands for it; nil for the one that stands for all of them.
    package let mergedInto: AccountID?
    /// The place of the `AccountOpened`; nil before it.
    package let opened: LogMark?
    /// How many events touch it: `seq` 0 to one less, each naming the one before it.
    package let eventCount: Int64
    /// What it rests on that there is no further one.
    package let basis: HistoryBasis

    init(_ replayed: ReplayedAccount, basis: HistoryBasis) {
        id = replayed.id
        standing = replayed.standing
        mergedInto = replayed.mergedInto
        opened = replayed.opened
        eventCount = replayed.eventCount
        self.basis = basis
    }
}

/// Some of the events of an account and of those that it stands for, in commit order.
package struct TimelinePage: Sendable {
    /// The account that was asked for.
    package let requested: AccountID
    /// The account that stands for all of them, then the others in the order of their opening.
    package let accounts: [TimelineAccount]
    /// Each event once.
    package private(set) var rows: [TimelineRow]
    /// How many events touch any of the accounts up to ``asOf``, on whatever page.
    package let eventCount: Int64
    /// Whether there are more behind the last row.
    package let hasMore: Bool
    /// The last event of the log that was looked at; nil before the first.
    package let asOf: LogMark?
    package let log: LogExtent

    /// The account that stands for all of them.
    package var survivor: AccountID { accounts.first?.id ?? requested }

    /// What it rests on that no account has a further event: the weakest that any of them rests on.
    package var basis: HistoryBasis {
        accounts.contains { $0.basis == .decisionState } ? .decisionState : .log
    }

    /// What the access log is told: whose histories are shown, where these are several.
    ///
    /// Merges make at most ``MergeAccounts/familyMax`` accounts one.
    package var accessDetails: [String: String] {
        guard accounts.count > 1 else { return [:] }
        return ["accounts": accounts.map(\.id.description).joined(separator: " ")]
    }

    /// Where the next page goes on; nil when there is no row to go on from.
    package var next: TimelineCursor? {
        guard let last = rows.last, let asOf else { return nil }
        return TimelineCursor(position: last.recorded.position, asOf: asOf.position)
    }

    /// The positions of the rows that may disclose something: what the holder of an account outside of
    /// the timeline gave away when the two met is not said.
    package var disclosablePositions: [LogPosition] {
        let own = Set(accounts.map(\.id))
        return rows.map(\.recorded).filter { recorded in
            recorded.accounts.first.map { own.contains($0.id) } ?? false
        }.map(\.position)
    }

    /// Adds what the events disclose.
    ///
    /// - Parameter values: by position, of ``disclosablePositions``; a position without any discloses
    ///   nothing.
    package mutating func disclose(_ values: [LogPosition: DisclosedValues]) {
        for index in rows.indices {
            rows[index].disclosed = values[rows[index].recorded.position] ?? DisclosedValues()
        }
    }
}

/// Interleaves the histories of accounts that merges made one, as they are replayed one after another.
///
/// Each history is replayed from its beginning, so that what an account could be signed in with is known on
/// every page; of the rows only a page is kept.
package struct TimelineFold: Sendable {
    /// The account whose history is wanted next, from its first event on; nil when nothing is.
    package private(set) var wanted: AccountID?

    private let requested: AccountID
    private let tenant: TenantID
    private let after: LogPosition
    private let limit: Int
    private var replayed: ReplayedAccount
    private var queue: [AccountID] = []
    private var known: Set<AccountID>
    private var finished: [AccountID: TimelineAccount] = [:]
    private var rows: [LogPosition: TimelineRow] = [:]
    /// No row behind this position is on the page, nor is it the one that says that there are more.
    private var cut: LogPosition?
    private var eventCount: Int64 = 0

    /// Begins the timeline that an account is in.
    ///
    /// - Parameters:
    ///   - account: any of those that merges made one.
    ///   - tenant: whose log it is.
    ///   - position: the last that is not listed; nil from the beginning.
    ///   - limit: how many rows are listed at the most.
    package init(
        of account: AccountID, in tenant: TenantID, after position: LogPosition?, limit: Int
    ) {
        requested = account
        self.tenant = tenant
        after = position ?? LogPosition(-1)
        self.limit = limit
        wanted = account
        known = [account]
        replayed = ReplayedAccount(account, in: tenant)
    }

    /// Takes the next event of the wanted account in.
    ///
    /// - Throws: `FoldFault` when it cannot follow.
    package mutating func apply(_ recorded: RecordedEvent, leaf: Digest) throws(FoldFault) {
        let before = replayed.links
        try replayed.apply(recorded, leaf: leaf)
        if !recorded.accounts.contains(where: { finished[$0.id] != nil }) { eventCount += 1 }
        let position = recorded.position
        guard position > after, cut.map({ position <= $0 }) ?? true else { return }
        rows[position, default: TimelineRow(recorded)].changes[replayed.id] =
            TimelineRow.Change(before: before, after: replayed.links)
        if rows.count > 2 * limit { dropSurplus() }
    }

    /// Ends the wanted account's history, and looks whose is wanted next.
    ///
    /// - Parameter basis: what it rests on that it has no further event.
    /// - Throws: `HistoryFault.damaged` when more accounts are one than merges can make.
    package mutating func finish(_ basis: HistoryBasis) throws(HistoryFault) {
        finished[replayed.id] = TimelineAccount(replayed, basis: basis)
        let others = replayed.merges.map(\.absorbed) + (replayed.mergedInto.map { [$0] } ?? [])
        for other in others where known.insert(other).inserted { queue.append(other) }
        guard known.count <= MergeAccounts.familyMax else {
            throw .damaged("merges made more accounts one than they may")
        }
        wanted = queue.popLast()
        if let wanted { replayed = ReplayedAccount(wanted, in: tenant) }
    }

    /// The page.
    ///
    /// - Precondition: no history is wanted any more.
    package func page(asOf: LogMark?, log: LogExtent) -> TimelinePage {
        precondition(wanted == nil, "a history is missing")
        let listed = rows.keys.sorted().prefix(limit)
        return TimelinePage(
            requested: requested, accounts: finished.values.sorted(by: Self.comesBefore),
            rows: listed.compactMap { rows[$0] }, eventCount: eventCount,
            hasMore: rows.count > listed.count, asOf: asOf, log: log)
    }

    private mutating func dropSurplus() {
        let positions = rows.keys.sorted()
        let last = positions[limit]
        cut = last
        for position in positions where position > last { rows[position] = nil }
    }

    private static func comesBefore(_ left: TimelineAccount, _ right: TimelineAccount) -> Bool {
        guard (left.mergedInto == nil) == (right.mergedInto == nil) else {
            return left.mergedInto == nil
        }
        let ranks = [left, right].map { $0.opened?.position ?? LogPosition(-1) }
        return ranks[0] == ranks[1]
            ? left.id.description < right.id.description : ranks[0] < ranks[1]
    }
}
