import Ledger
import LedgerEngine
import Postgres

/// The last uses of accounts of one tenant: their last events, and the refreshes of their live sessions.
enum UseLoad {
    private static let statement = Statement(
        "load_uses",
        """
        SELECT k.account_id, a.last_position, greatest(e.recorded_at, u.refreshed_at) AS used_at
        FROM unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT last_position FROM accounts
            WHERE tenant_id = $1 AND account_id = k.account_id
            OFFSET 0) a
        CROSS JOIN LATERAL (
            SELECT recorded_at FROM events
            WHERE tenant_id = $1 AND position = a.last_position
            OFFSET 0) e
        CROSS JOIN LATERAL (
            SELECT max(s.refresh_exchanged_at) AS refreshed_at
            FROM (
                SELECT identity_id FROM identities
                WHERE tenant_id = $1 AND last_account_id = k.account_id
                OFFSET 0) i
            CROSS JOIN LATERAL (
                SELECT refresh_exchanged_at FROM sessions
                WHERE tenant_id = $1 AND identity_id = i.identity_id
                OFFSET 0) s) u
        """)

    static func call(_ accounts: [AccountID], of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        let (account, position) = (
            try result.column("account_id"), try result.column("last_position")
        )
        let usedAt = try result.column("used_at")
        for row in 0..<result.rowCount {
            batch.state.lastUses[AccountID(bits: try result.uuid(row, account))] =
                DecisionState.LastUse(
                    position: LogPosition(try result.count(row, position)),
                    time: Timestamp(microseconds: try result.timestamp(row, usedAt)))
        }
    }
}
