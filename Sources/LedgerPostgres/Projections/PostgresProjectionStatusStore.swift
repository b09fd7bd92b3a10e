import Ledger
import LedgerEngine
import Postgres

/// The progress of the projections' tables, in Postgres.
struct PostgresProjectionStatusStore: ProjectionStatusStore {
    private let session: Postgres.Session

    /// Creates a store without connecting.
    init(url: String) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger projector status",
            statementDeadline: .seconds(5)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    func status() async throws -> [ProjectionStatus] {
        try await session.run { try ProjectionStatus.all(on: $0) }
    }

    func clearFailures() async throws {
        try await session.run { try Checkpoints.clearFailures(on: $0) }
    }

    func close() async {
        await session.close()
    }
}

extension ProjectionStatus {
    // The event's time comes from a subquery: planned as a join over young tables, it reads all events of a
    // tenant for each row.
    private static let statement = Statement(
        "projection_status",
        """
        SELECT h.tenant_id, t.name, t.generation, t.version, t.state = 'served' AS is_served,
            h.next_position, coalesce(p.position, 0) AS position, p.version AS folded_version,
            p.failure, greatest(0, 1000000
                * extract(epoch FROM clock_timestamp() - (
                    SELECT e.recorded_at FROM events e
                    WHERE e.tenant_id = h.tenant_id AND e.position = coalesce(p.position, 0)
                        AND e.position < h.next_position)))::bigint AS microseconds_behind
        FROM ledger_head h CROSS JOIN projection_tables t
        LEFT JOIN projections p ON p.tenant_id = h.tenant_id AND p.name = t.name
            AND p.generation = t.generation
        WHERE t.state <> 'building'
        ORDER BY h.tenant_id, t.name, t.generation
        """)

    /// Returns the status of every live table of every tenant, by one statement.
    static func all(on connection: Connection) throws(PostgresError) -> [ProjectionStatus] {
        let result = try connection.query(statement)
        var all: [ProjectionStatus] = []
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))),
                let table = try ProjectionTables.table(result, row)
            else { continue }
            var failure = try result.optionalText(row, result.column("failure"))
            let folded =
                try result.optionalInt4(row, result.column("folded_version")) ?? table.version
            if !table.isKnown {
                failure = "the table has version \(table.version), unknown to this program"
            } else if folded != table.version {
                failure = "its rows have version \(folded), the table has \(table.version)"
            }
            all.append(
                ProjectionStatus(
                    tenant: tenant, table: table,
                    isServed: try result.bool(row, result.column("is_served")),
                    head: LogPosition(try result.int8(row, result.column("next_position"))),
                    position: LogPosition(try result.int8(row, result.column("position"))),
                    secondsBehind: Double(
                        try result.optionalInt8(row, result.column("microseconds_behind")) ?? 0)
                        / 1_000_000,
                    failure: failure))
        }
        return all
    }
}
