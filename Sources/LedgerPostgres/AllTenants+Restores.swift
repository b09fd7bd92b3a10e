package import Ledger
package import Postgres

extension AllTenants {
    // The end of all device tokens of a tenant, which an accepted restore alone writes.
    private static let restores = Statement(
        "accepted_restores",
        """
        SELECT tenant_id, devices_ended_at FROM ledger_head WHERE devices_ended_at IS NOT NULL
        """)

    /// Returns the time of each tenant's last accepted restore.
    package static func restores(
        on connection: Connection
    ) throws(PostgresError) -> [TenantID: Timestamp] {
        let result = try connection.query(restores)
        var times: [TenantID: Timestamp] = [:]
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))),
                let time = try result.optionalTimestamp(row, result.column("devices_ended_at"))
            else { continue }
            times[tenant] = Timestamp(microseconds: time)
        }
        return times
    }
}
