import Ledger
package import LedgerEngine
package import Postgres

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
    /// Returns the status of every live table of every tenant, by one statement.
    package static func all(on connection: Connection) throws(PostgresError) -> [ProjectionStatus] {
        let result = try connection.query(AllTenants.projectionStatus)
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
