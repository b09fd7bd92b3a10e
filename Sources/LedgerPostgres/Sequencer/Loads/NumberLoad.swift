import Ledger
import LedgerEngine
import Postgres

/// The phone numbers of accounts' identities: which of them their accounts have lost, and when the others were used last.
enum NumberLoad {
    /// Finds numbers by the subjects of identities.
    ///
    /// Such a subject is the id of the address, which has no row once it is lost. Some subjects of other providers look
    /// the same, and decisions read neither of these.
    private static let statement = Statement(
        "load_numbers",
        """
        SELECT i.identity_id, d.address_id IS NULL AS is_lost,
            greatest(i.linked_at, e.recorded_at, u.used_at) AS used_at
        FROM unnest($2::uuid[]) AS k (account_id)
        CROSS JOIN LATERAL (
            SELECT identity_id, linked_at,
                CASE WHEN provider_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                    THEN provider_id::uuid END AS address_id
            FROM identities
            WHERE tenant_id = $1 AND last_account_id = k.account_id
            OFFSET 0) i
        LEFT JOIN LATERAL (
            SELECT address_id, kind, position FROM addresses
            WHERE tenant_id = $1 AND address_id = i.address_id
            OFFSET 0) d ON true
        LEFT JOIN LATERAL (
            SELECT recorded_at FROM events
            WHERE tenant_id = $1 AND position = d.position AND d.kind = 'phone'
            OFFSET 0) e ON true
        LEFT JOIN LATERAL (
            SELECT max(greatest(opened_at, refresh_exchanged_at)) AS used_at FROM sessions
            WHERE tenant_id = $1 AND identity_id = i.identity_id AND d.kind = 'phone') u ON true
        WHERE i.address_id IS NOT NULL AND d.kind IS DISTINCT FROM 'email'
        """)

    static func call(_ accounts: Set<AccountID>, of tenant: TenantID) -> Call {
        Call(statement, [.text(tenant.description), .uuids(accounts.map(\.bits))])
    }

    static func read(_ result: QueryResult, into batch: TenantBatch) throws {
        let (identity, isLost) = (
            try result.column("identity_id"), try result.column("is_lost")
        )
        let usedAt = try result.column("used_at")
        for row in 0..<result.rowCount {
            let id = IdentityID(bits: try result.uuid(row, identity))
            if try result.bool(row, isLost) { batch.state.lostNumbers.insert(id) }
            batch.state.noteUse(
                of: id, at: Timestamp(microseconds: try result.timestamp(row, usedAt)))
        }
    }
}
