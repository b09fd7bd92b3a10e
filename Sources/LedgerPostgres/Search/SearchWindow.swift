import Ledger
import Postgres

/// The positions that a search looks at where no index leads to what is wanted.
enum SearchWindow {
    /// Positions at the most.
    static let positionsMax: Int64 = 100_000
    /// How much earlier than it says an id may have been recorded, by the clocks of two machines.
    private static let before: Int64 = 5_000_000
    /// How much later: what a request may wait, and as much for clocks.
    private static let after: Int64 = 60_000_000

    /// What was recorded about a moment, and whether it is not all of that.
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

    /// What was recorded last.
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
