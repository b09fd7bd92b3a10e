import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// Visits the events of one account in the order of its sequence, inside the open snapshot.
///
/// `account_audit` locates them, and the log verifies them: each event must have the account's next `seq` and
/// the hash of the one before it, and the end of the sequence needs evidence. Otherwise the log itself is
/// scanned. Events after the last known one are searched for too, up to a limit, because `accounts` could
/// have been rolled back.
struct AccountTraversal {
    private static func positions(_ audit: ProjectionTable) -> Statement {
        Statement(
            "\(audit)_positions",
            """
            SELECT position FROM \(audit)
            WHERE tenant_id = $1 AND account_id = $2 AND account_seq >= $3 AND position <= $4
            ORDER BY account_seq LIMIT $5
            """)
    }

    private static func predecessor(_ audit: ProjectionTable) -> Statement {
        Statement(
            "\(audit)_predecessor",
            """
            SELECT position FROM \(audit)
            WHERE tenant_id = $1 AND account_id = $2 AND position <= $3
            ORDER BY account_seq DESC LIMIT 1
            """)
    }

    private static func successor(_ audit: ProjectionTable) -> Statement {
        Statement(
            "\(audit)_successor",
            """
            SELECT position FROM \(audit)
            WHERE tenant_id = $1 AND account_id = $2 AND account_seq = $3
            """)
    }

    private static let decided = Statement(
        "history_account",
        """
        SELECT next_seq, last_leaf FROM accounts WHERE tenant_id = $1 AND account_id = $2
        UNION ALL
        SELECT next_seq, last_leaf FROM erasures WHERE tenant_id = $1 AND account_id = $2
        """)

    let account: AccountID
    let snapshot: HistorySnapshot
    let disclosures: DisclosureReader?
    let reach: HistoryScanLimit
    let connection: Connection
    private let emit: (ReplayedEvent) throws -> Void

    /// The last position to visit.
    private(set) var end: Int64 = -1
    /// Events up to here are skipped.
    private var start: Int64 = -1
    private var remaining = Int.max
    private(set) var nextSequence: Int64 = 0
    private(set) var lastPosition: Int64 = -1
    private var lastLeaf: Digest?
    /// Whether the log names the account after the end.
    private var isNextFound = false
    /// The position from which, through the end, the log itself was scanned and its events visited.
    private var searchedFrom = Int64.max

    /// Creates a traversal; `emit` receives each event once, in order.
    init(
        _ account: AccountID, in snapshot: HistorySnapshot, disclosures: DisclosureReader? = nil,
        reach: HistoryScanLimit, on connection: Connection,
        emit: @escaping (ReplayedEvent) throws -> Void
    ) {
        self.account = account
        self.snapshot = snapshot
        self.disclosures = disclosures
        self.reach = reach
        self.connection = connection
        self.emit = emit
    }

    /// The result of a part of the traversal.
    private enum Outcome {
        /// Every requested event was visited.
        case finished
        /// The limit was reached.
        case limited
        /// The next event does not continue the account's sequence.
        case mismatch
    }

    /// Visits at most `limit` events after one position and through another.
    ///
    /// - Returns: the evidence that there are no more events; nil when there may be, or when the account is
    ///   unknown.
    /// - Throws: `LogDamage` when the events do not make a complete history, the error of `emit`, or
    ///   `PostgresError`.
    mutating func run(
        after start: Int64 = -1, through end: Int64, limit: Int = .max
    ) throws -> HistoryBasis? {
        guard try reach == .everything || isKnown() else { return nil }
        self.end = end
        self.start = min(start, end)
        remaining = limit
        if self.start >= 0 { try begin(after: self.start) }
        let outcome = try visitAudited()
        if let basis = try basis() { return basis }
        switch outcome {
        case .limited: return nil
        case .mismatch: break
        case .finished:
            // In an intact ledger only the events that the projector has not folded yet are missing.
            switch try search(from: max(snapshot.auditedSize, lastPosition + 1), isTentative: true)
            {
            case .limited: return try basis()
            case .mismatch: break
            case .finished:
                if let basis = try basis() { return basis }
                if try isProvedByNext(from: snapshot.auditedSize) { return .log }
            }
        }
        let isLimited = try search(from: lastPosition + 1, isTentative: false) == .limited
        if let basis = try basis() { return basis }
        guard !isLimited else { return nil }
        guard try isProvedByNext(from: 0) || !isKnown() else { throw try tailDamage() }
        return .log
    }

    /// Whether any data read so far shows that the account exists.
    func isKnown() throws -> Bool {
        if nextSequence > 0 || isNextFound { return true }
        let first = key + [.int8(nextSequence)]
        return try connection.query(Self.decided, key).rowCount > 0
            || connection.query(Self.successor(snapshot.audit), first).rowCount > 0
    }

    private var key: [Parameter] { [.text(snapshot.tenant.description), .uuid(account.bits)] }
}

// The location of the events.
extension AccountTraversal {
    /// Restores the state of the account's sequence after a position.
    private mutating func begin(after position: Int64) throws {
        guard position < snapshot.log.size else { return }
        // A page continues from the last event of the previous page.
        if try restoreState(after: position) { return }
        let found = try connection.query(Self.predecessor(snapshot.audit), key + [.int8(position)])
        guard found.rowCount == 1 else { return }
        _ = try restoreState(after: try found.int8(0, 0))
    }

    private mutating func restoreState(after position: Int64) throws -> Bool {
        let event = try snapshot.event(at: position, on: connection)
        guard let reference = event.recorded.reference(to: account) else { return false }
        nextSequence = reference.sequence &+ 1
        lastPosition = position
        lastLeaf = event.leaf
        return true
    }

    /// Visits the events that `account_audit` names.
    private mutating func visitAudited() throws -> Outcome {
        while remaining > 0 {
            let most = min(LogReader.pageMax, remaining)
            let rows = try connection.query(
                Self.positions(snapshot.audit),
                key + [.int8(nextSequence), .int8(end), .int8(Int64(most))])
            let positions = try (0..<rows.rowCount).map { try rows.int8($0, 0) }
            guard !positions.isEmpty else { return .finished }
            let before = nextSequence
            guard try visit(positions, isTentative: true), nextSequence > before else {
                return .mismatch
            }
            guard positions.count == most else { return .finished }
        }
        return .limited
    }

    /// Visits the events that the log names from a position on.
    private mutating func search(from position: Int64, isTentative: Bool) throws -> Outcome {
        guard position <= end else { return .finished }
        var search = LogSearch(for: account, in: snapshot.tenant, at: position..<end + 1)
        while let positions = try search.positions(on: connection) {
            try snapshot.checkDeadline()
            var rest = positions[...]
            while !rest.isEmpty {
                guard remaining > 0 else { return .limited }
                let page = Array(rest.prefix(min(LogReader.pageMax, remaining)))
                guard try visit(page, isTentative: isTentative) else { return .mismatch }
                rest = rest.dropFirst(page.count)
            }
        }
        searchedFrom = min(searchedFrom, position)
        return .finished
    }

    /// Reads the events at some positions and visits them.
    ///
    /// - Returns: false, when doubting, as soon as one is not the account's next.
    /// - Throws: `LogDamage` for that, when not doubting.
    private mutating func visit(_ positions: [Int64], isTentative: Bool) throws -> Bool {
        try snapshot.checkDeadline()
        let tenant = snapshot.tenant
        var calls = [Call(HistorySnapshot.entries, [.text(tenant.description), .int8s(positions)])]
        if disclosures != nil { calls.append(DisclosureReader.call(at: positions, in: tenant)) }
        let results = try connection.pipeline(calls)
        guard let page = results.first else { throw PostgresError.unexpectedResult("no page") }
        var opened = DisclosurePage(
            results.count == 2 ? try DisclosureReader.rows(results[1]) : [], reader: disclosures)
        for row in 0..<page.rowCount {
            let position = LogPosition(try page.int8(row, page.column("position")))
            let entry = try page.bytes(row, page.column("entry"))
            let mac = try page.optionalBytes(row, page.column("mac"))
            let event: StoredEvent
            do throws(LogDamage) {
                event = try snapshot.stored(entry, mac, at: position)
                // An account may be named without being touched.
                guard let reference = event.recorded.reference(to: account) else { continue }
                try verifyNext(event, as: reference)
            } catch {
                if isTentative { return false }
                throw error
            }
            guard position.value > start else { continue }
            remaining -= 1
            try emitEvent(event, &opened)
        }
        return page.rowCount == positions.count
    }

    /// Verifies and visits an event as the account's next.
    private mutating func verifyNext(
        _ event: StoredEvent, as reference: AccountReference
    ) throws(LogDamage) {
        let position = event.recorded.position
        guard reference.sequence == nextSequence, position.value > lastPosition else {
            throw LogDamage(
                position: position,
                fault: "seq of account \(account) is \(reference.sequence), not \(nextSequence)")
        }
        guard reference.previous == lastLeaf else {
            throw LogDamage(
                position: position,
                fault: "prev of account \(account) is not its previous event")
        }
        nextSequence += 1
        lastPosition = position.value
        lastLeaf = event.leaf
    }

    private func emitEvent(_ event: StoredEvent, _ opened: inout DisclosurePage) throws {
        var disclosed: DisclosedValues?
        if disclosures != nil {
            // Disclosures about the other account of an event do not belong to this one.
            let isOwn = event.recorded.accounts.first?.id == account
            let values = try opened.open(event.recorded)
            disclosed = isOwn ? values : DisclosedValues()
        }
        try emit(
            ReplayedEvent(
                recorded: event.recorded, entry: event.entry, leaf: event.leaf,
                disclosed: disclosed))
    }
}

// The end of the sequence.
extension AccountTraversal {
    /// Returns the evidence that the account has no event between the last one and the end; nil without
    /// evidence.
    private mutating func basis() throws -> HistoryBasis? {
        if try isNextInAudit() { return .log }
        let decided = try connection.query(Self.decided, key)
        guard decided.rowCount == 1,
            try decided.int8(0, decided.column("next_seq")) == nextSequence,
            let leaf = lastLeaf, try decided.bytes(0, decided.column("last_leaf")) == leaf.bytes
        else { return nil }
        guard searchedFrom > lastPosition + 1 else { return .log }
        guard reach.covers(end - lastPosition) else { return .decisionState }
        return try hasNoEventAfterLast() ? .log : nil
    }

    /// Whether no event after the last one, through the end, touches the account.
    private mutating func hasNoEventAfterLast() throws -> Bool {
        let from = lastPosition + 1
        guard from <= end else { return true }
        var search = LogSearch(for: account, in: snapshot.tenant, at: from..<end + 1)
        while let positions = try search.positions(on: connection) {
            try snapshot.checkDeadline()
            for start in stride(from: 0, to: positions.count, by: LogReader.pageMax) {
                let page = Array(positions[start...].prefix(LogReader.pageMax))
                let events = try snapshot.events(at: page, on: connection)
                guard events.allSatisfy({ $0.recorded.reference(to: account) == nil }) else {
                    return false
                }
            }
        }
        searchedFrom = from
        return true
    }

    /// Whether `account_audit` names an event after the end that is the account's next.
    private func isNextInAudit() throws -> Bool {
        let next = try connection.query(Self.successor(snapshot.audit), key + [.int8(nextSequence)])
        guard next.rowCount == 1 else { return false }
        let position = try next.int8(0, 0)
        guard position > end, position < snapshot.log.size,
            let event = try? snapshot.event(at: position, on: connection)
        else { return false }
        return follows(event)
    }

    /// Whether the first event of the log that touches the account after the end is its next.
    private mutating func isProvedByNext(from start: Int64) throws -> Bool {
        let range = min(max(end + 1, start), snapshot.log.size)..<snapshot.log.size
        var search = LogSearch(for: account, in: snapshot.tenant, at: range)
        while let positions = try search.positions(on: connection) {
            try snapshot.checkDeadline()
            for position in positions {
                let event = try snapshot.event(at: position, on: connection)
                // An account may be named without being touched.
                guard event.recorded.reference(to: account) != nil else { continue }
                isNextFound = follows(event)
                return isNextFound
            }
        }
        return false
    }

    private func follows(_ event: StoredEvent) -> Bool {
        let reference = event.recorded.reference(to: account)
        return reference?.sequence == nextSequence && reference?.previous == lastLeaf
    }

    private func tailDamage() throws -> LogDamage {
        let decided = try connection.query(Self.decided, key)
        let count = decided.rowCount == 1 ? try decided.int8(0, 0) : nil
        let fault =
            if let count, count != nextSequence {
                "account \(account) has \(nextSequence) events, but next_seq is \(count)"
            } else if count == nil {
                "account \(account) has \(nextSequence) events, but no row in accounts"
            } else {
                "the last event of account \(account) is not the one that accounts names"
            }
        return LogDamage(position: LogPosition(max(0, lastPosition)), fault: fault)
    }
}

/// How much of the log itself is scanned for events that no table names.
enum HistoryScanLimit: Equatable, Sendable {
    /// The whole log, for offline tools: it may contain an account that no table knows.
    case everything
    /// At most this many events after the last one of a known account.
    case events(Int64)

    func covers(_ count: Int64) -> Bool {
        switch self {
        case .everything: true
        case .events(let most): count <= most
        }
    }
}

extension RecordedEvent {
    /// Returns an account's reference in the event; nil when the event does not touch it.
    fileprivate func reference(to account: AccountID) -> AccountReference? {
        accounts.first { $0.id == account }
    }
}
