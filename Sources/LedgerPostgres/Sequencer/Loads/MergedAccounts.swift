import Ledger
import Postgres

/// The accounts that were merged into accounts, in statements of a tenant.
package enum MergedAccounts {
    /// A common table expression `family` of rows `survivor`, `account_id` and `depth`.
    ///
    /// From each account of the array `$2` down to all that it absorbed, itself included. `$1` is the tenant.
    package static let family = """
        WITH RECURSIVE family (survivor, account_id, depth) AS (
            SELECT k.account_id, k.account_id, 0 FROM unnest($2::uuid[]) AS k (account_id)
            UNION ALL
            SELECT f.survivor, a.account_id, f.depth + 1 FROM family f
            CROSS JOIN LATERAL (
                SELECT account_id FROM accounts
                WHERE merged_into = f.account_id AND tenant_id = $1
                OFFSET 0) a
            WHERE f.depth < \(MergeAccounts.familyMax))
        """

    /// Common table expressions that end with `family`, of rows `holder`, `account_id` and `depth`.
    ///
    /// From each account of a table expression `named` up to its survivor, the holder, and from there down to all that
    /// it absorbed, the holder included. `$1` is the tenant.
    package static let holders = """
        up AS (
            SELECT a.account_id, a.merged_into
            FROM named n
            CROSS JOIN LATERAL (
                SELECT account_id, merged_into FROM accounts
                WHERE tenant_id = $1 AND account_id = n.account_id
                OFFSET 0) a
            UNION
            SELECT a.account_id, a.merged_into
            FROM up u
            CROSS JOIN LATERAL (
                SELECT account_id, merged_into FROM accounts
                WHERE tenant_id = $1 AND account_id = u.merged_into
                OFFSET 0) a
        ), family (holder, account_id, depth) AS (
            SELECT account_id, account_id, 0 FROM up WHERE merged_into IS NULL
            UNION ALL
            SELECT f.holder, a.account_id, f.depth + 1
            FROM family f
            CROSS JOIN LATERAL (
                SELECT account_id FROM accounts
                WHERE merged_into = f.account_id AND tenant_id = $1
                OFFSET 0) a
            WHERE f.depth < \(MergeAccounts.familyMax)
        )
        """

    private static let holder = Statement(
        "holder_of_account",
        """
        WITH RECURSIVE named AS (SELECT $2::uuid AS account_id),
        \(holders)
        SELECT holder FROM family WHERE depth = 0
        """)

    /// Returns the account that an account was merged into, over all merges; itself if it was not merged.
    static func survivor(
        of account: AccountID, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> AccountID {
        let result = try connection.query(
            holder, [.text(tenant.description), .uuid(account.bits)])
        return result.rowCount == 0
            ? account : AccountID(bits: try result.uuid(0, result.column("holder")))
    }
}
