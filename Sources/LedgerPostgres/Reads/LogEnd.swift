package import Ledger
package import Postgres

/// The end of a tenant's log.
package enum LogEnd {
    private static let statement = Statement(
        "log_end", "SELECT next_position FROM ledger_head WHERE tenant_id = $1")

    /// Returns the position that the next event gets.
    ///
    /// - Throws: `PostgresError`.
    package static func read(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> LogPosition {
        let rows = try connection.query(statement, [.text(tenant.description)])
        return LogPosition(rows.rowCount == 0 ? 0 : try rows.int8(0, 0))
    }
}
