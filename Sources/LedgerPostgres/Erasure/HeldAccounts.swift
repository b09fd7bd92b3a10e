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

    private static let page = Statement(
        "held_accounts_page",
        """
        SELECT account_id, legal_holds FROM accounts
        WHERE tenant_id = $1 AND legal_holds IS NOT NULL AND account_id > $2
        ORDER BY account_id LIMIT $3
        """)

    /// Returns the holds of the next accounts.
    ///
    /// - Throws: `PostgresError`.
    static func page(
        _ tenant: TenantID, after account: AccountID?, accounts limit: Int,
        on connection: Connection
    ) throws(PostgresError) -> HoldPage {
        let rows = try connection.query(
            page,
            [
                .text(tenant.description), .uuid(account?.bits ?? 0), .int8(Int64(limit) + 1),
            ])
        var holds: [ActiveHold] = []
        for row in 0..<min(rows.rowCount, limit) {
            let account = AccountID(bits: try rows.uuid(row, rows.column("account_id")))
            for hold in try rows.uuidArray(row, rows.column("legal_holds")) {
                holds.append(ActiveHold(account: account, hold: HoldID(bits: hold)))
            }
        }
        return HoldPage(holds: holds, hasMore: rows.rowCount > limit)
    }

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
