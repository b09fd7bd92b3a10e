package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres
import Synchronization

/// Answers queries about the history of accounts, each from one snapshot of the log.
package final class HistoryReads: HistoryReader {
    private static let begin = Statement(
        "history_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private let sessions: [Postgres.Session]
    private let turn = Atomic<Int>(0)
    private let disclosures: DisclosureReader?
    private let reach: HistoryScanLimit
    private let patience: Duration?
    private let onFault: @Sendable (String) -> Void

    /// Creates reads.
    ///
    /// - Parameters:
    ///   - url: the URL of a role that may read `events`, `accounts`, `erasures`, `account_audit` and
    ///     `checkpoints`, and for disclosures also `disclosures` and `account_keys`.
    ///   - keyring: unwraps the keys of accounts; nil when nothing is to be disclosed.
    ///   - connections: the number of concurrent queries.
    ///   - searchesWholeLog: whether the whole log is scanned for an unknown account and for events after an
    ///     account's last one.
    ///   - searchMax: the maximum number of events after an account's last one that are scanned otherwise.
    ///   - deadline: the timeout of one statement.
    ///   - patience: the timeout of a query, including its wait for a connection; nil for none.
    ///   - onFault: called with one line, free of personal data, for each query without an answer.
    package init(
        url: String, keyring: WrappingKeyring?, connections: Int = 2,
        searchesWholeLog: Bool = false, searchMax: Int64 = 20_000,
        deadline: Duration = .seconds(10), patience: Duration? = .seconds(10),
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        disclosures = keyring.map { DisclosureReader(keyring: $0) }
        reach = searchesWholeLog ? .everything : .events(searchMax)
        self.patience = patience
        self.onFault = onFault
        sessions = (0..<max(1, connections)).map { _ in
            Postgres.Session(
                url: url, applicationName: "account-ledger history", statementDeadline: deadline
            ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '60s'") }
        }
    }

    /// Returns an account as of a moment.
    package func account(
        _ account: AccountID, asOf moment: Moment?, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountAsOf? {
        try await read(tenant) { snapshot, connection in
            let mark = try snapshot.mark(of: moment, on: connection)
            var replayed = ReplayedAccount(account, in: tenant)
            var traversal = self.traversal(account, in: snapshot, on: connection) { event in
                try replayed.replay(event)
            }
            let basis = try traversal.run(through: mark?.position.value ?? -1)
            guard try traversal.isKnown(), let basis else { return nil }
            return AccountAsOf(
                account: replayed, basis: basis, asOf: mark, log: snapshot.log)
        }
    }

    /// Returns some of an account's events, in order.
    package func history(
        of account: AccountID, after position: LogPosition?, asOf moment: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> HistoryPage? {
        try await read(tenant) { snapshot, connection in
            let mark = try snapshot.mark(of: moment, on: connection)
            var events: [ReplayedEvent] = []
            var traversal = self.traversal(
                account, in: snapshot, isDisclosing: isDisclosing, on: connection
            ) { events.append($0) }
            let basis = try traversal.run(
                after: position?.value ?? -1, through: mark?.position.value ?? -1, limit: limit)
            guard try traversal.isKnown() else { return nil }
            return HistoryPage(
                events: events, eventCount: basis == nil ? nil : traversal.nextSequence,
                basis: basis,
                asOf: mark, log: snapshot.log)
        }
    }

    /// Returns an account at two moments, and the events in between.
    package func changes(
        of account: AccountID, from earlier: Moment, to later: Moment?, limit: Int,
        isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> AccountChanges? {
        try await read(tenant) { snapshot, connection in
            let from = try snapshot.mark(of: earlier, on: connection)
            let to = try snapshot.mark(of: later, on: connection)
            guard from?.position ?? LogPosition(-1) <= to?.position ?? LogPosition(-1) else {
                throw HistoryFault.backwards
            }
            // Copied only once: each copy has all live sessions.
            var before: ReplayedAccount?
            var after = ReplayedAccount(account, in: tenant)
            var events: [ReplayedEvent] = []
            var surplus: Int64 = 0
            var traversal = self.traversal(
                account, in: snapshot, isDisclosing: isDisclosing, on: connection
            ) { event in
                let isEarlier = event.recorded.position <= from?.position ?? LogPosition(-1)
                if !isEarlier, before == nil { before = after }
                try after.replay(event)
                guard !isEarlier else { return }
                if events.count < limit { events.append(event) } else { surplus += 1 }
            }
            let basis = try traversal.run(through: to?.position.value ?? -1)
            guard try traversal.isKnown() else { return nil }
            let page = HistoryPage(
                events: events, eventCount: surplus == 0 ? traversal.nextSequence : nil,
                basis: basis,
                asOf: to, log: snapshot.log)
            return AccountChanges(
                difference: AccountDifference(from: before ?? after, to: after), from: from,
                page: page)
        }
    }

    /// Returns some of the events of an account and of those merged with it, in an order.
    package func timeline(
        of account: AccountID, _ order: ReadingOrder = .oldest, after cursor: TimelineCursor?,
        asOf moment: Moment?, limit: Int, isDisclosing: Bool, in tenant: TenantID
    ) async throws(HistoryFault) -> TimelinePage? {
        try await read(tenant) { snapshot, connection in
            let mark = try snapshot.mark(
                of: cursor.map { .position($0.asOf) } ?? moment, on: connection)
            var fold = TimelineFold(
                of: account, in: tenant, after: cursor?.position, limit: limit, order: order)
            while let wanted = fold.wanted {
                var traversal = self.traversal(wanted, in: snapshot, on: connection) { event in
                    try fold.replay(event)
                }
                let basis = try traversal.run(through: mark?.position.value ?? -1)
                guard try traversal.isKnown(), let basis else {
                    guard wanted != account else { return nil }
                    throw HistoryFault.damaged("account \(wanted) of a merge is unknown")
                }
                try fold.finish(basis)
            }
            var page = fold.page(asOf: mark, log: snapshot.log)
            if isDisclosing, let disclosures = self.disclosures {
                page.disclose(try Self.disclosed(page, in: tenant, disclosures, on: connection))
            }
            return page
        }
    }

    /// Returns the disclosures of a timeline's rows, by position.
    private static func disclosed(
        _ page: TimelinePage, in tenant: TenantID, _ reader: DisclosureReader,
        on connection: Connection
    ) throws -> [LogPosition: DisclosedValues] {
        let positions = page.disclosablePositions
        let rows = try connection.pipeline([
            DisclosureReader.call(at: positions.map(\.value), in: tenant)
        ])
        guard let rows = rows.first else { throw PostgresError.unexpectedResult("no page") }
        var opened = DisclosurePage(try DisclosureReader.rows(rows), reader: reader)
        let wanted = Set(positions)
        var values: [LogPosition: DisclosedValues] = [:]
        for row in page.rows where wanted.contains(row.recorded.position) {
            values[row.recorded.position] = try opened.open(row.recorded)
        }
        return values
    }

    /// Closes the connections.
    package func close() async {
        for session in sessions { await session.close() }
    }

    private func traversal(
        _ account: AccountID, in snapshot: HistorySnapshot, isDisclosing: Bool = false,
        on connection: Connection, emit: @escaping (ReplayedEvent) throws -> Void
    ) -> AccountTraversal {
        AccountTraversal(
            account, in: snapshot, disclosures: isDisclosing ? disclosures : nil, reach: reach,
            on: connection, emit: emit)
    }

    private func read<Value: Sendable>(
        _ tenant: TenantID, _ body: @Sendable (HistorySnapshot, Connection) throws -> Value
    ) async throws(HistoryFault) -> Value {
        let deadline = patience.map { ContinuousClock.now + $0 }
        let turn = turn.add(1, ordering: .relaxed).oldValue
        let session = sessions[(turn & .max) % sessions.count]
        do {
            return try await session.run { connection in
                try connection.readingServedTables(Self.begin) {
                    let snapshot = try HistorySnapshot.read(
                        tenant, macs: self.disclosures?.macs, deadline: deadline, on: connection)
                    // A query that spent the whole time in the queue costs nothing more.
                    try snapshot.checkDeadline()
                    return try body(snapshot, connection)
                }
            }
        } catch {
            let fault = HistoryFault(error)
            switch fault {
            case .notReached, .backwards: break
            case .unavailable:
                let reason =
                    error is HistoryTimeout
                    ? "timed out"
                    : (error as? PostgresError)?.description ?? "unknown reason"
                onFault("a history could not be read: \(reason)")
            case .damaged(let what): onFault("a history is incomplete: \(what)")
            }
            throw fault
        }
    }
}

extension ReplayedAccount {
    /// Applies an event whose place in the sequence is verified; its content may still be impossible.
    fileprivate mutating func replay(_ event: ReplayedEvent) throws(LogDamage) {
        do throws(FoldFault) {
            try apply(event.recorded, leaf: event.leaf)
        } catch {
            throw LogDamage(position: event.recorded.position, fault: error.description)
        }
    }
}

extension TimelineFold {
    /// Applies an event whose place in the sequence is verified; its content may still be impossible.
    fileprivate mutating func replay(_ event: ReplayedEvent) throws(LogDamage) {
        do throws(FoldFault) {
            try apply(event.recorded, leaf: event.leaf)
        } catch {
            throw LogDamage(position: event.recorded.position, fault: error.description)
        }
    }
}

extension HistoryFault {
    fileprivate init(_ error: any Error) {
        switch error {
        case let fault as HistoryFault: self = fault
        case let damage as LogDamage: self = .damaged(damage.description)
        case PostgresError.unexpectedResult(let what): self = .damaged(what)
        default: self = .unavailable
        }
    }
}
