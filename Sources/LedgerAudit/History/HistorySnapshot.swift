import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// The state of a tenant's log in one snapshot, read before an account's events.
struct HistorySnapshot {
    private static let head = Statement(
        "history_head", "SELECT next_position FROM ledger_head WHERE tenant_id = $1")

    private static let entry = Statement(
        "history_entry", "SELECT entry, mac FROM events WHERE tenant_id = $1 AND position = $2")

    static let entries = Statement(
        "history_entries",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1 AND position = ANY ($2::bigint[]) ORDER BY position
        """)

    let tenant: TenantID
    let log: LogExtent
    /// The served table of `account_audit`.
    let audit: ProjectionTable
    /// The position that it has been folded up to; no guarantee that it is complete.
    let auditedSize: Int64
    /// The positions at which each MAC key applies; nil without keys.
    private let protection: LogProtection?
    /// The time at which the client stops waiting; nil for never.
    private let deadline: ContinuousClock.Instant?

    /// Reads the state inside the open transaction.
    ///
    /// - Throws: `LogDamage` when the log is shorter than what was signed, or a checkpoint has no valid
    ///   signature; `PostgresError`.
    static func read(
        _ tenant: TenantID, macs: MACKeys?, deadline: ContinuousClock.Instant? = nil,
        on connection: Connection
    ) throws -> HistorySnapshot {
        let key = [Parameter.text(tenant.description)]
        let audit = try ProjectionTables.served(.accountAudit, on: connection)
        let results = try connection.pipeline(
            [Call(head, key), Checkpoints.call(of: audit, in: tenant)]
                + NewestCheckpoint.calls(of: tenant)
                + LogProtection.calls(of: tenant, keys: macs))
        guard results.count >= 4 else { throw PostgresError.unexpectedResult("no snapshot") }
        let size = results[0].rowCount == 1 ? try results[0].int8(0, 0) : 0
        let signed: Int64?
        do {
            signed = try NewestCheckpoint.find(results[2], results[3], of: tenant, on: connection)?
                .size
        } catch let damage as ProofDamage {
            throw LogDamage(position: LogPosition(size), fault: damage.what)
        }
        if let signed, signed > size {
            throw LogDamage(
                position: LogPosition(size),
                fault: "the log ends here, but \(signed) events were signed")
        }
        return HistorySnapshot(
            tenant: tenant, log: LogExtent(size: size, signedSize: signed), audit: audit,
            auditedSize: min(
                try Checkpoints.checkpoint(results[1], of: audit)?.position.value ?? 0, size),
            protection: try LogProtection.found(in: results[4...], of: tenant, keys: macs),
            deadline: deadline
        )
    }

    /// Checks the deadline.
    ///
    /// - Throws: `HistoryTimeout` when it has passed.
    func checkDeadline() throws(HistoryTimeout) {
        guard let deadline, ContinuousClock.now >= deadline else { return }
        throw HistoryTimeout()
    }

    /// Returns the last event of the log at a moment, by default now; nil before the first.
    ///
    /// - Throws: `HistoryFault.notReached`, `LogDamage` or `PostgresError`.
    func mark(of moment: Moment?, on connection: Connection) throws -> LogMark? {
        switch moment {
        case nil:
            return log.size == 0 ? nil : try event(at: log.size - 1, on: connection).mark
        case .position(let position)?:
            guard position.value < log.size else {
                throw HistoryFault.notReached(size: log.size)
            }
            return try event(at: position.value, on: connection).mark
        case .time(let time)?:
            return try lastMark(at: time, on: connection)
        }
    }

    /// Finds the position by the column of times, and checks it against the entries there.
    private func lastMark(at time: Timestamp, on connection: Connection) throws -> LogMark? {
        let next = time.microseconds.addingReportingOverflow(1)
        let found =
            next.overflow
            ? log.size
            : try TimeSearch.events.first(
                notBefore: next.partialValue, in: tenant, on: connection)
        let end = min(max(0, found), log.size)
        let last = end == 0 ? nil : try event(at: end - 1, on: connection).mark
        let following = end == log.size ? nil : try event(at: end, on: connection).mark
        guard last.map({ $0.recordedAt <= time }) ?? true,
            following.map({ $0.recordedAt > time }) ?? true
        else {
            throw LogDamage(
                position: LogPosition(max(0, end - 1)),
                fault: "recorded_at differs from the entries")
        }
        return last
    }

    /// Reads the event at a position.
    ///
    /// - Throws: `LogDamage` when it is missing or not an event, or `PostgresError`.
    func event(at position: Int64, on connection: Connection) throws -> StoredEvent {
        let result = try connection.query(
            Self.entry, [.text(tenant.description), .int8(position)])
        guard result.rowCount == 1 else {
            throw LogDamage(position: LogPosition(position), fault: "the event is missing")
        }
        return try stored(
            try result.bytes(0, result.column("entry")),
            try result.optionalBytes(0, result.column("mac")), at: LogPosition(position))
    }

    /// Reads the events at some positions, in order; positions without one are skipped.
    ///
    /// - Throws: `LogDamage` for one that is not an event, or `PostgresError`.
    func events(at positions: [Int64], on connection: Connection) throws -> [StoredEvent] {
        let page = try connection.query(
            Self.entries, [.text(tenant.description), .int8s(positions)])
        return try (0..<page.rowCount).map { row in
            try stored(
                try page.bytes(row, page.column("entry")),
                try page.optionalBytes(row, page.column("mac")),
                at: LogPosition(try page.int8(row, page.column("position"))))
        }
    }

    /// Decodes and authenticates the event of an entry and its MAC.
    func stored(
        _ entry: [UInt8], _ mac: [UInt8]?, at position: LogPosition
    ) throws(LogDamage) -> StoredEvent {
        try StoredEvent(entry: entry, mac: mac, at: position, in: tenant, protection)
    }
}

/// A query took longer than its client waits.
struct HistoryTimeout: Error {}

extension StoredEvent {
    /// The position and time of the event.
    var mark: LogMark { LogMark(position: recorded.position, recordedAt: recorded.recordedAt) }
}
