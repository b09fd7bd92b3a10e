import Ledger
import LedgerPostgres
import Postgres

/// The positions that a search scans when no index helps.
enum SearchWindow {
    /// The maximum number of positions.
    static let positionsMax: Int64 = 100_000
    /// How much earlier than its own time an id may be recorded, given the clocks of two machines.
    private static let before: Int64 = 5_000_000
    /// How much later: the maximum wait of a request, and as much again for clocks.
    private static let after: Int64 = 60_000_000

    /// Returns the positions recorded around a time, and whether the limit has cut them.
    static func around(
        _ time: Timestamp, positionsMax: Int64, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> (positions: Range<Int64>, isClipped: Bool) {
        let start = try TimeSearch.events.first(
            notBefore: time.microseconds - before, in: tenant, on: connection)
        let end = try TimeSearch.events.first(
            notBefore: time.microseconds + after, in: tenant, on: connection)
        return (
            positions: start..<max(start, min(end, start + positionsMax)),
            isClipped: end > start + positionsMax
        )
    }

    /// Returns the last positions.
    static func last(
        in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Range<Int64> {
        let heads = try connection.query(
            Statement(
                "search_window_head", "SELECT next_position FROM ledger_head WHERE tenant_id = $1"),
            [.text(tenant.description)])
        let end = heads.rowCount == 1 ? try heads.int8(0, 0) : 0
        return max(0, end - positionsMax)..<end
    }
}
