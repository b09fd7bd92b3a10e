package import Ledger
import Postgres

/// How far one projection of one tenant has come, measured against the tenant's head.
package struct ProjectionStatus: Hashable, Sendable {
    package let tenant: TenantID
    package let projection: ProjectionName
    /// The head's next position.
    package let head: LogPosition
    /// The next position that the projection folds.
    package let position: LogPosition
    /// How long the oldest event that is not folded has been in the log; 0 when there is none.
    package let secondsBehind: Double
    /// Why the projection has stopped: the position and what is wrong there, no personal data.
    package let failure: String?

    /// Events that are not folded.
    package var lag: Int64 { max(0, head.value - position.value) }
}

extension ProjectionStatus {
    private static let statement = Statement(
        "projection_status",
        """
        SELECT h.tenant_id, n.name, h.next_position, coalesce(p.position, 0), p.version, n.version,
            p.failure, greatest(0, 1000000
                * extract(epoch FROM clock_timestamp() - e.recorded_at))::bigint
        FROM ledger_head h CROSS JOIN unnest($1::text[], $2::int[]) AS n (name, version)
        LEFT JOIN projections p ON p.tenant_id = h.tenant_id AND p.name = n.name
        LEFT JOIN events e ON e.tenant_id = h.tenant_id AND e.position = coalesce(p.position, 0)
            AND e.position < h.next_position
        ORDER BY h.tenant_id, n.name
        """)

    /// The status of every projection of every tenant, in one statement.
    static func all(on connection: Connection) throws(PostgresError) -> [ProjectionStatus] {
        let result = try connection.query(statement, Checkpoints.namesAndVersions)
        var all: [ProjectionStatus] = []
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, 0)),
                let name = ProjectionName(rawValue: try result.text(row, 1))
            else { continue }
            let stored = try result.optionalInt4(row, 4)
            let own = try result.int4(row, 5)
            var failure = try result.optionalText(row, 6)
            if let stored, stored != own {
                failure = "the table has version \(stored), this program folds version \(own)"
            }
            all.append(
                ProjectionStatus(
                    tenant: tenant, projection: name, head: LogPosition(try result.int8(row, 2)),
                    position: LogPosition(try result.int8(row, 3)),
                    secondsBehind: Double(try result.optionalInt8(row, 7) ?? 0) / 1_000_000,
                    failure: failure))
        }
        return all
    }
}
