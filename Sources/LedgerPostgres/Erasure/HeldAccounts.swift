package import Ledger
package import Postgres

/// The legal holds of a tenant.
package enum HeldAccounts {
    private static let held = Statement(
        "held_accounts",
        """
        SELECT a.account_id, h.hold FROM accounts a, unnest(a.legal_holds) AS h (hold)
        WHERE a.tenant_id = $1 AND a.legal_holds IS NOT NULL ORDER BY h.hold
        """)

    /// Returns all holds, the oldest first.
    ///
    /// - Throws: `PostgresError`.
    package static func read(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [(account: AccountID, hold: HoldID)] {
        let result = try connection.query(held, [.text(tenant.description)])
        var holds: [(account: AccountID, hold: HoldID)] = []
        for row in 0..<result.rowCount {
            holds.append(
                (
                    account: AccountID(bits: try result.uuid(row, result.column("account_id"))),
                    hold: HoldID(bits: try result.uuid(row, result.column("hold")))
                ))
        }
        return holds
    }
}
