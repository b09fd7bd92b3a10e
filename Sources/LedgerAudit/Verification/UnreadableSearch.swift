import Ledger
import Postgres

/// Finds the rows of a tenant that Postgres itself can't read: damaged pages, truncated values.
///
/// Every query is a statement of its own, since the one that fails ends its transaction.
struct UnreadableSearch {
    private static let rangeEvents: Int64 = 10_000
    private static let tables: [(name: String, check: VerificationCheck)] = [
        ("ledger_head", .head), ("disclosures", .disclosures), ("account_keys", .disclosures),
        ("accounts", .accounts), ("identities", .identities), ("sessions", .sessions),
        ("erasures", .erasures), ("merges", .merges), ("rules", .rules),
        ("addresses", .addresses), ("names", .names), ("credentials", .credentials),
        ("factors", .factors),
        ("erasure_requests", .erasureRequests), ("api_keys", .apiKeys),
        ("projections", .projections),
        ("user_providers", .userProviders), ("account_audit", .accountAudit),
        ("conflicts", .conflicts),
        ("merkle_nodes", .nodes), ("checkpoints", .checkpoints),
        ("checkpoint_keys", .checkpoints), ("access_log", .accessLog),
        ("access_heads", .accessLog),
    ]

    private let tenant: TenantID
    private let connection: Connection
    private(set) var findings: [VerificationFinding] = []

    /// Whether an error means that data can't be read or processed, and not that the database is unavailable.
    static func isAbout(_ error: PostgresError) -> Bool {
        if case .unexpectedResult = error { return true }
        // Internal errors, missing or unreadable files, and values that are out of range or too long.
        return error.state.map { ["XX", "58", "22", "54"].contains($0.conditionClass) } ?? false
    }

    init(_ tenant: TenantID, on connection: Connection) {
        self.tenant = tenant
        self.connection = connection
    }

    /// Searches all tables; `error` is the one that ended the verification.
    mutating func run(after error: PostgresError) throws(PostgresError) {
        try connection.execute(
            "SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off")
        try searchLog()
        for table in Self.tables {
            guard let fault = try fault("FROM \(table.name) t WHERE tenant_id = $1", []) else {
                continue
            }
            add(nil, table.check, "a row of \(table.name) can't be read: \(fault)")
        }
        if findings.isEmpty { add(nil, .positions, "the ledger can't be verified: \(error)") }
    }

    /// Reports the first event that can't be read.
    private mutating func searchLog() throws(PostgresError) {
        let end: Int64
        do throws(PostgresError) {
            // Not max(position), for which a planner without statistics may read all rows.
            let last = try connection.query(
                Statement(
                    "unreadable_end",
                    """
                    SELECT position FROM events WHERE tenant_id = $1 ORDER BY position DESC LIMIT 1
                    """),
                [.text(tenant.description)])
            end = last.rowCount == 0 ? 0 : LogPosition(try last.int8(0, 0)).next.value
        } catch {
            guard Self.isAbout(error) else { throw error }
            return add(nil, .entries, "the end of the log can't be read: \(error)")
        }
        var start: Int64 = 0
        while start < end {
            let next = end - start > Self.rangeEvents ? start + Self.rangeEvents : end
            if try fault(start..<next) != nil { return try narrow(start..<next) }
            start = try firstEvent(from: next)
        }
    }

    /// Returns the first position after a gap of any length; the given one when that can't be read.
    private func firstEvent(from position: Int64) throws(PostgresError) -> Int64 {
        do throws(PostgresError) {
            let first = try connection.query(
                Statement(
                    "unreadable_next",
                    """
                    SELECT coalesce(min(position), $2) FROM events
                    WHERE tenant_id = $1 AND position >= $2
                    """),
                [.text(tenant.description), .int8(position)])
            return try first.int8(0, 0)
        } catch {
            guard Self.isAbout(error) else { throw error }
            return position
        }
    }

    /// Halves an unreadable range until one event is left.
    private mutating func narrow(_ range: Range<Int64>) throws(PostgresError) {
        var (start, end) = (range.lowerBound, range.upperBound)
        while end - start > 1 {
            let middle = start + (end - start) / 2
            if try fault(start..<middle) != nil { end = middle } else { start = middle }
        }
        let what = try fault(start..<end) ?? "intermittently"
        add(LogPosition(start), .entries, "the event can't be read: \(what)")
    }

    private func fault(_ positions: Range<Int64>) throws(PostgresError) -> String? {
        try fault(
            "FROM events t WHERE tenant_id = $1 AND position >= $2 AND position < $3",
            [.int8(positions.lowerBound), .int8(positions.upperBound)])
    }

    /// Returns the error when all of some rows are read; nil when they can be read.
    private func fault(
        _ rows: String, _ bounds: [Parameter]
    ) throws(PostgresError) -> String? {
        do throws(PostgresError) {
            _ = try connection.query(
                Statement(
                    "unreadable_\(rows.split(separator: " ")[1])_\(bounds.count)",
                    "SELECT coalesce(sum(length(t::text)), 0)::bigint \(rows)"),
                [.text(tenant.description)] + bounds)
            return nil
        } catch {
            // A login that may not read whole rows has to do without this check.
            if error.state == .insufficientPrivilege { return nil }
            guard Self.isAbout(error) else { throw error }
            return error.description
        }
    }

    private mutating func add(
        _ position: LogPosition?, _ check: VerificationCheck, _ text: String
    ) {
        findings.append(
            VerificationFinding(
                tenant: tenant.description, position: position, check: check, text: text))
    }
}
