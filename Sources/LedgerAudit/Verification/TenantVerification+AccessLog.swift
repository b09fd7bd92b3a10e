import Ledger
import Postgres

extension TenantVerification {
    private static let extent = Statement(
        "verify_access_extent",
        """
        SELECT count(*) AS count, coalesce(max(position), -1) AS last,
            coalesce((SELECT next_position FROM access_heads WHERE tenant_id = $1), 0) AS head
        FROM access_log WHERE tenant_id = $1
        """)

    private static let firstGap = Statement(
        "verify_access_gap",
        """
        SELECT expected FROM (
            SELECT position, row_number() OVER (ORDER BY position) - 1 AS expected
            FROM access_log WHERE tenant_id = $1) k
        WHERE position <> expected ORDER BY expected LIMIT 1
        """)

    /// Finds rows that are missing from the access log.
    ///
    /// Nothing is signed over them: a changed row, or the removal of the last rows with a matching change of
    /// the head, is not found.
    mutating func checkAccessLog(on connection: Connection) throws(PostgresError) {
        let key = [Parameter.text(tenant.description)]
        let row = try connection.query(Self.extent, key)
        let count = try row.int8(0, row.column("count"))
        let end = LogPosition(try row.int8(0, row.column("last"))).next.value
        let head = try row.int8(0, row.column("head"))
        report.count(.accessLog, count)
        if count != end {
            let gap = try connection.query(Self.firstGap, key)
            let location = gap.rowCount == 1 ? "\(try gap.int8(0, 0))" : "unknown"
            add(.accessLog, nil, "the row at its position \(location) is missing")
        }
        if end != head { add(.accessLog, nil, "its head is at \(head), its rows end at \(end)") }
    }
}
