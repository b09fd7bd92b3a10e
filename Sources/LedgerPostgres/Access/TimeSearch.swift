package import Ledger
package import Postgres

/// A binary search, in one statement, for positions by time where times never decrease.
package struct TimeSearch {
    private let firstNotBefore: Statement

    /// Searches `events`.
    package static let events = TimeSearch(
        "events", time: "recorded_at", head: "ledger_head")
    /// Searches `access_log`.
    static let accesses = TimeSearch(
        "access_log", time: "accessed_at", head: "access_heads")

    private init(_ table: String, time: String, head: String) {
        // A missing position counts as earlier, so that the search ends in a damaged log too.
        firstNotBefore = Statement(
            "\(table)_first_not_before",
            """
            WITH RECURSIVE search (low, high) AS (
                SELECT 0::bigint, next_position FROM \(head) WHERE tenant_id = $1
                UNION ALL
                SELECT CASE WHEN m.is_reached THEN s.low ELSE (s.low + s.high) / 2 + 1 END,
                    CASE WHEN m.is_reached THEN (s.low + s.high) / 2 ELSE s.high END
                FROM search s CROSS JOIN LATERAL (
                    SELECT coalesce((SELECT \(time) >= $2 FROM \(table)
                        WHERE tenant_id = $1 AND position = (s.low + s.high) / 2), false)
                        AS is_reached
                    OFFSET 0) m
                WHERE s.low < s.high)
            SELECT low FROM search WHERE low = high
            """)
    }

    /// Returns the positions from one time through another, both included, below a head.
    package func range(
        from: Moment?, through: Moment?, head: Int64, in tenant: TenantID,
        on connection: Connection
    ) throws(PostgresError) -> Range<Int64> {
        var start: Int64 = 0
        switch from {
        case .position(let position)?: start = position.value
        case .time(let time)?:
            start = try first(notBefore: time.microseconds, in: tenant, on: connection)
        case nil: break
        }
        var end = head
        switch through {
        case .position(let position)?: end = min(end, position.value + 1)
        case .time(let time)?:
            let next = time.microseconds.addingReportingOverflow(1)
            guard !next.overflow else { break }
            end = min(end, try first(notBefore: next.partialValue, in: tenant, on: connection))
        case nil: break
        }
        return start..<max(start, end)
    }

    /// Returns the first position at or after this time; the head if every event is earlier.
    package func first(
        notBefore microseconds: Int64, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Int64 {
        let result = try connection.query(
            firstNotBefore, [.text(tenant.description), .timestamp(microseconds)])
        return result.rowCount == 1 ? try result.int8(0, 0) : 0
    }
}
