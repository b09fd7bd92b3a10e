import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// One replay, inside the open transaction.
struct ReplayReading {
    let tenant: TenantID
    let disclosures: DisclosureReader?
    /// The keys that authenticate events; nil without keys.
    let protection: LogProtection?
    let emit: @Sendable (ReplayedEvent) throws -> Void
    var summary = ReplaySummary()
    var history: AccountHistory?

    init(
        tenant: TenantID, disclosures: DisclosureReader?, protection: LogProtection?,
        emit: @escaping @Sendable (ReplayedEvent) throws -> Void
    ) {
        self.tenant = tenant
        self.disclosures = disclosures
        self.protection = protection
        self.emit = emit
    }

    /// Reads the events after one position and through another; for an account's history only its own.
    mutating func scan(
        after first: Int64, through end: Int64, on connection: Connection
    ) throws {
        var last = first
        while last < end {
            let results = try connection.pipeline([
                LogReader.rowsCall(after: last, in: tenant, limit: LogReader.pageMax)
            ])
            guard let page = results.first, page.rowCount > 0 else { return }
            var opened = try DisclosurePage(page, in: tenant, reader: disclosures, on: connection)
            for row in 0..<page.rowCount {
                let position = try page.int8(row, 0)
                guard position <= end else { return }
                if position != last &+ 1, history == nil {
                    summary.add(
                        LogDamage(
                            position: LogPosition(last &+ 1),
                            fault: "the events before position \(position) are missing"))
                }
                last = position
                try emitIfWanted(page, row, at: LogPosition(position), opened: &opened)
            }
        }
    }

    /// Emits a row of the log or reports why it can't be, unless it is not part of the history.
    mutating func emitIfWanted(
        _ page: QueryResult, _ row: Int, at position: LogPosition, opened: inout DisclosurePage
    ) throws {
        switch read(page, row, at: position) {
        case .success(let read):
            if isWanted(read.event.recorded) { try emitEvent(read, opened: &opened) }
        case .failure(let damage): summary.add(damage)
        }
    }

    /// A row of the log with its decoded entry.
    typealias Read = (row: EventRow, event: StoredEvent)

    /// Decodes and authenticates one row of the log.
    func read(
        _ page: QueryResult, _ row: Int, at position: LogPosition
    ) -> Result<Read, LogDamage> {
        do {
            let row = try EventRow(page, row)
            let event = try StoredEvent(
                entry: row.entry, mac: row.mac, at: row.position, in: tenant, protection)
            return .success((row: row, event: event))
        } catch {
            return .failure(
                error as? LogDamage
                    ?? LogDamage(position: position, fault: "the row cannot be read"))
        }
    }

    private func isWanted(_ recorded: RecordedEvent) -> Bool {
        guard let account = history?.account else { return true }
        return recorded.accounts.contains { $0.id == account }
    }

    /// Checks one event and emits it.
    mutating func emitEvent(_ read: Read, opened: inout DisclosurePage) throws {
        let recorded = read.event.recorded
        let position = recorded.position
        let leaf = read.event.leaf
        if let column = read.row.differingColumn(from: recorded) {
            summary.add(
                LogDamage(position: position, fault: "\(column) is not what the entry says"))
        }
        if let fault = history?.take(recorded, leaf: leaf) {
            summary.add(LogDamage(position: position, fault: fault))
        }
        var disclosed: DisclosedValues?
        if disclosures != nil {
            do throws(LogDamage) {
                let values = try opened.open(recorded)
                // Disclosures about the other account of an event do not belong to this one.
                let isOwn = history.map { recorded.accounts.first?.id == $0.account } ?? true
                disclosed = isOwn ? values : DisclosedValues()
            } catch {
                summary.add(error)
            }
        }
        try emit(
            ReplayedEvent(
                recorded: recorded, entry: read.event.entry, leaf: leaf, disclosed: disclosed))
        summary.events += 1
    }
}

/// Checks that an account's events are complete and each has the hash of the one before it.
struct AccountHistory {
    let account: AccountID
    /// The `seq` that the next event must have.
    private(set) var nextSequence: Int64 = 0
    private(set) var lastPosition: Int64 = -1
    private var lastLeaf: Digest?

    init(of account: AccountID) {
        self.account = account
    }

    /// Whether an event is the account's next.
    func expects(_ recorded: RecordedEvent) -> Bool {
        recorded.accounts.contains { $0.id == account && $0.sequence == nextSequence }
    }

    /// Adds the account's next event; returns the fault in its sequence, if any.
    mutating func take(_ recorded: RecordedEvent, leaf: Digest) -> String? {
        guard let reference = recorded.accounts.first(where: { $0.id == account }) else {
            return nil
        }
        var fault: String?
        if reference.sequence != nextSequence {
            fault = "seq of account \(account) is \(reference.sequence), not \(nextSequence)"
        } else if reference.previous != lastLeaf {
            fault = "prev of account \(account) is not its previous event"
        }
        nextSequence = reference.sequence &+ 1
        lastPosition = recorded.position.value
        lastLeaf = leaf
        return fault
    }
}
