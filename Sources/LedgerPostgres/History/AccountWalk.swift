import Ledger
import Postgres

/// Visits the events of one account in the order of its own sequence, in the snapshot that is open.
///
/// `account_audit` says where they are. It is only believed as far as the log agrees: each event must
/// have the account's next `seq` and name the one before it, and after the last one something must say
/// that it was the last. Where that fails, the log itself is looked through.
struct AccountWalk {
    private static let positions = Statement(
        "history_positions",
        """
        SELECT position FROM account_audit
        WHERE tenant_id = $1 AND account_id = $2 AND account_seq >= $3 AND position <= $4
        ORDER BY account_seq LIMIT $5
        """)

    private static let predecessor = Statement(
        "history_predecessor",
        """
        SELECT position FROM account_audit
        WHERE tenant_id = $1 AND account_id = $2 AND position <= $3
        ORDER BY account_seq DESC LIMIT 1
        """)

    private static let successor = Statement(
        "history_successor",
        """
        SELECT position FROM account_audit
        WHERE tenant_id = $1 AND account_id = $2 AND account_seq = $3
        """)

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
    /// Whether an account that neither `accounts` nor `account_audit` knows is looked for in all of the
    /// log.
    let searchesWholeLog: Bool
    let connection: Connection
    private let emit: (ReplayedEvent) throws -> Void

    /// The last position that is visited.
    private(set) var end: Int64 = -1
    /// Events up to here are passed over.
    private var start: Int64 = -1
    private var remaining = Int.max
    private(set) var nextSequence: Int64 = 0
    private(set) var lastPosition: Int64 = -1
    private var lastLeaf: Digest?
    /// Whether the log names the account after the end.
    private var isNextFound = false

    /// Describes a walk; `emit` gets each event once, in order.
    init(
        _ account: AccountID, in snapshot: HistorySnapshot, disclosures: DisclosureReader? = nil,
        searchesWholeLog: Bool, on connection: Connection,
        emit: @escaping (ReplayedEvent) throws -> Void
    ) {
        self.account = account
        self.snapshot = snapshot
        self.disclosures = disclosures
        self.searchesWholeLog = searchesWholeLog
        self.connection = connection
        self.emit = emit
    }

    /// How a part of a walk ended.
    private enum Outcome {
        /// Everything that was to be visited was visited.
        case finished
        /// As many were visited as were asked for.
        case limited
        /// What comes next is not the account's next event.
        case misfit
    }

    /// Visits the events after one position and through another, at most so many.
    ///
    /// - Returns: whether it is certain that there are no more of them.
    /// - Throws: `LogDamage` when the events do not make a whole history, what `emit` throws, or
    ///   `PostgresError`.
    mutating func run(
        after start: Int64 = -1, through end: Int64, limit: Int = .max
    ) throws -> Bool {
        self.end = end
        self.start = min(start, end)
        remaining = limit
        if self.start >= 0 { try begin(after: self.start) }
        let outcome = try followAudit()
        if try isProvedWhole() { return true }
        switch outcome {
        case .limited: return false
        case .misfit: break
        case .finished:
            // Nothing is missing but what the projector has not come to, if all is well.
            switch try search(from: max(snapshot.auditedSize, lastPosition + 1), isDoubting: true) {
            case .limited: return try isProvedWhole()
            case .misfit: break
            case .finished:
                if try isProvedWhole() || isProvedByNext(from: snapshot.auditedSize) { return true }
            }
        }
        guard try isKnown() || searchesWholeLog else { return true }
        let isLimited = try search(from: lastPosition + 1, isDoubting: false) == .limited
        if try isProvedWhole() { return true }
        guard !isLimited else { return false }
        guard try isProvedByNext(from: 0) || !isKnown() else { throw try tailDamage() }
        return true
    }

    /// Whether anything says that the account exists; after the walk.
    func isKnown() throws -> Bool {
        if nextSequence > 0 || isNextFound { return true }
        let first = key + [.int8(nextSequence)]
        return try connection.query(Self.decided, key).rowCount > 0
            || connection.query(Self.successor, first).rowCount > 0
    }

    private var key: [Parameter] { [.text(snapshot.tenant.description), .uuid(account.bits)] }
}

// Where the events are.
extension AccountWalk {
    /// Finds where the account's sequence stands after a position.
    private mutating func begin(after position: Int64) throws {
        guard position < snapshot.log.size else { return }
        // A page follows on the last event of the page before.
        if try stand(after: position) { return }
        let found = try connection.query(Self.predecessor, key + [.int8(position)])
        guard found.rowCount == 1 else { return }
        _ = try stand(after: try found.int8(0, 0))
    }

    private mutating func stand(after position: Int64) throws -> Bool {
        let event = try snapshot.event(at: position, on: connection)
        guard let reference = event.recorded.reference(to: account) else { return false }
        nextSequence = reference.sequence &+ 1
        lastPosition = position
        lastLeaf = event.leaf
        return true
    }

    /// Visits what `account_audit` names.
    private mutating func followAudit() throws -> Outcome {
        while remaining > 0 {
            let most = min(LogReader.pageMax, remaining)
            let rows = try connection.query(
                Self.positions, key + [.int8(nextSequence), .int8(end), .int8(Int64(most))])
            let positions = try (0..<rows.rowCount).map { try rows.int8($0, 0) }
            guard !positions.isEmpty else { return .finished }
            let before = nextSequence
            guard try visit(positions, isDoubting: true), nextSequence > before else {
                return .misfit
            }
            guard positions.count == most else { return .finished }
        }
        return .limited
    }

    /// Visits what the log names from a position on.
    private mutating func search(from position: Int64, isDoubting: Bool) throws -> Outcome {
        guard position <= end else { return .finished }
        var search = LogSearch(for: account, in: snapshot.tenant, at: position..<end + 1)
        while let positions = try search.positions(on: connection) {
            var rest = positions[...]
            while !rest.isEmpty {
                guard remaining > 0 else { return .limited }
                let page = Array(rest.prefix(min(LogReader.pageMax, remaining)))
                guard try visit(page, isDoubting: isDoubting) else { return .misfit }
                rest = rest.dropFirst(page.count)
            }
        }
        return .finished
    }

    /// Reads the events at some positions and visits them.
    ///
    /// - Returns: false, when doubting, as soon as one is not the account's next.
    /// - Throws: `LogDamage` for that, when not doubting.
    private mutating func visit(_ positions: [Int64], isDoubting: Bool) throws -> Bool {
        let tenant = snapshot.tenant
        var calls = [Call(HistorySnapshot.entries, [.text(tenant.description), .int8s(positions)])]
        if disclosures != nil { calls.append(DisclosureReader.call(at: positions, in: tenant)) }
        let results = try connection.pipeline(calls)
        guard let page = results.first else { throw PostgresError.unexpectedResult("no page") }
        var opened = DisclosurePage(
            results.count == 2 ? try DisclosureReader.rows(results[1]) : [], reader: disclosures)
        for row in 0..<page.rowCount {
            let position = LogPosition(try page.int8(row, 0))
            let entry = try page.bytes(row, 1)
            let event: StoredEvent
            do throws(LogDamage) {
                event = try StoredEvent(entry: entry, at: position, in: tenant)
                // Who is only named is not touched.
                guard let reference = event.recorded.reference(to: account) else { continue }
                try follow(event, as: reference)
            } catch {
                if isDoubting { return false }
                throw error
            }
            guard position.value > start else { continue }
            remaining -= 1
            try hand(event, &opened)
        }
        return page.rowCount == positions.count
    }

    /// Takes an event as the account's next.
    private mutating func follow(
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

    private func hand(_ event: StoredEvent, _ opened: inout DisclosurePage) throws {
        var disclosed: DisclosedValues?
        if disclosures != nil {
            // What the holder of another account gave away when the two met is not this one's.
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

// Whether that was all.
extension AccountWalk {
    /// Whether decision state or `account_audit` shows that nothing of the account lies between the last
    /// event and the end.
    private func isProvedWhole() throws -> Bool {
        let decided = try connection.query(Self.decided, key)
        if decided.rowCount == 1, try decided.int8(0, 0) == nextSequence,
            let leaf = lastLeaf, try decided.bytes(0, 1) == leaf.bytes
        {
            return true
        }
        let next = try connection.query(Self.successor, key + [.int8(nextSequence)])
        guard next.rowCount == 1 else { return false }
        let position = try next.int8(0, 0)
        guard position > end, position < snapshot.log.size,
            let event = try? snapshot.event(at: position, on: connection)
        else { return false }
        return follows(event)
    }

    /// Whether the first event that the log names after the end is the account's next.
    private mutating func isProvedByNext(from start: Int64) throws -> Bool {
        let range = min(max(end + 1, start), snapshot.log.size)..<snapshot.log.size
        var search = LogSearch(for: account, in: snapshot.tenant, at: range)
        while let positions = try search.positions(on: connection) {
            guard let first = positions.first else { continue }
            let event = try snapshot.event(at: first, on: connection)
            guard follows(event) else { return false }
            isNextFound = true
            return true
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
                "account \(account) has \(nextSequence) events, next_seq says \(count)"
            } else if count == nil {
                "account \(account) has \(nextSequence) events, and no row in accounts"
            } else {
                "the last event of account \(account) is not the one that accounts names"
            }
        return LogDamage(position: LogPosition(max(0, lastPosition)), fault: fault)
    }
}

extension RecordedEvent {
    /// An account's part in the event; nil when it does not touch it.
    fileprivate func reference(to account: AccountID) -> AccountReference? {
        accounts.first { $0.id == account }
    }
}
