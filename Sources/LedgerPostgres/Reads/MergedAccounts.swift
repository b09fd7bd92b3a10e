import Ledger

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
}
