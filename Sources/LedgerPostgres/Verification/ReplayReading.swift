import Ledger
import Postgres

/// One replay, in the transaction that is open.
struct ReplayReading {
    let tenant: TenantID
    let disclosures: DisclosureReader?
    let emit: @Sendable (ReplayedEvent) throws -> Void
    var summary = ReplaySummary()
    var history: AccountHistory?

    init(
        tenant: TenantID, disclosures: DisclosureReader?,
        emit: @escaping @Sendable (ReplayedEvent) throws -> Void
    ) {
        self.tenant = tenant
        self.disclosures = disclosures
        self.emit = emit
    }

    /// Reads every event between two positions, both excluded; of an account's history only its own.
    mutating func scan(
        after first: Int64, before end: Int64, on connection: Connection
    ) throws {
        var last = first
        while last < end &- 1 {
            let results = try connection.pipeline([
                LogReader.rowsCall(after: last, in: tenant, limit: LogReader.pageMax)
            ])
            guard let page = results.first, page.rowCount > 0 else { return }
            var opened = try DisclosurePage(page, in: tenant, reader: disclosures, on: connection)
            for row in 0..<page.rowCount {
                let position = try page.int8(row, 0)
                guard position < end else { return }
                if position != last &+ 1, history == nil {
                    summary.add(
                        LogDamage(
                            position: LogPosition(last &+ 1),
                            fault: "the events before position \(position) are missing"))
                }
                last = position
                try take(page, row, opened: &opened)
            }
        }
    }

    /// Checks one row of the log and hands it out.
    mutating func take(
        _ page: QueryResult, _ row: Int, opened: inout DisclosurePage
    ) throws {
        let position = LogPosition(try page.int8(row, 0))
        let stored: EventRow
        let event: StoredEvent
        do {
            stored = try EventRow(page, row)
            event = try stored.decoded(in: tenant)
        } catch {
            summary.add(
                error as? LogDamage
                    ?? LogDamage(position: position, fault: "the row cannot be read"))
            return
        }
        let leaf = event.leaf
        if let account = history?.account,
            !event.recorded.accounts.contains(where: { $0.id == account })
        {
            return
        }
        if let column = stored.columnThatDiffers(from: event.recorded) {
            summary.add(
                LogDamage(position: position, fault: "\(column) is not what the entry says"))
        }
        for fault in history?.take(event.recorded, leaf: leaf) ?? [] {
            summary.add(LogDamage(position: position, fault: fault))
        }
        var disclosed: DisclosedValues?
        if disclosures != nil {
            do throws(LogDamage) {
                disclosed = try opened.open(event.recorded)
            } catch {
                summary.add(error)
            }
        }
        try emit(
            ReplayedEvent(
                recorded: event.recorded, entry: event.entry, leaf: leaf, disclosed: disclosed))
        summary.events += 1
    }
}

/// Checks that an account's events are all there and each names the one before it.
struct AccountHistory {
    let account: AccountID
    /// The `seq` that the next event must have.
    private(set) var nextSequence: Int64 = 0
    private(set) var lastPosition: Int64 = -1
    private var lastLeaf: Digest?

    init(of account: AccountID) {
        self.account = account
    }

    /// Takes the account's next event and says what is wrong with its place.
    mutating func take(_ recorded: RecordedEvent, leaf: Digest) -> [String] {
        guard let reference = recorded.accounts.first(where: { $0.id == account }) else {
            return []
        }
        var faults: [String] = []
        if reference.sequence != nextSequence {
            faults.append("seq of account \(account) is \(reference.sequence), not \(nextSequence)")
        } else if reference.previous != lastLeaf {
            faults.append("prev of account \(account) is not its previous event")
        }
        nextSequence = reference.sequence &+ 1
        lastPosition = recorded.position.value
        lastLeaf = leaf
        return faults
    }
}
