import Ledger
import Postgres

/// The merges by which named accounts, and those that are one with them, absorbed others, each with the
/// identities that it set free and that belong to nobody still.
enum MergeLoad {
    private static let statement = Statement(
        "load_merges",
        """
        \(AccountLoad.family)
        SELECT k.tenant_id, m.event_id, m.position, m.survivor_id, m.absorbed_id, m.moved, m.dropped,
               m.replaced, i.identity_id, i.provider, i.provider_id, i.last_account_id,
               i.linked_at, i.linked_position
        FROM family k
        CROSS JOIN LATERAL (
            SELECT * FROM merges
            WHERE survivor_id = k.account_id AND tenant_id IS NOT DISTINCT FROM k.tenant_id
            OFFSET 0) m
        LEFT JOIN LATERAL (
            SELECT * FROM identities
            WHERE last_account_id IN (m.survivor_id, m.absorbed_id)
                AND tenant_id IS NOT DISTINCT FROM k.tenant_id AND account_id IS NULL
                AND identity_id = ANY (m.dropped || m.replaced)
            OFFSET 0) i ON true
        ORDER BY m.position
        """)

    static func call(_ keys: BatchKeys) -> Call {
        Call(statement, AccountLoad.parameters(keys))
    }

    static func read(
        _ result: QueryResult, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = try tenants[result.tenant(row, 0)] else { continue }
            func identities(_ column: Int) throws -> [IdentityID] {
                try result.uuidArray(row, column).map { IdentityID(bits: $0) }
            }
            batch.state.ledger.load(
                Merge(
                    id: EventID(bits: try result.uuid(row, 1)),
                    position: LogPosition(try result.count(row, 2)),
                    survivor: AccountID(bits: try result.uuid(row, 3)),
                    absorbed: AccountID(bits: try result.uuid(row, 4)),
                    moved: try identities(5), dropped: try identities(6),
                    replaced: try identities(7)))
            try readIdentity(row, result, into: batch)
        }
    }

    private static func readIdentity(
        _ row: Int, _ result: QueryResult, into batch: TenantBatch
    ) throws {
        guard let bits = try result.optionalUUID(row, 8) else { return }
        let id = IdentityID(bits: bits)
        guard batch.state.ledger.identities[id] == nil else { return }
        let provider = try result.provider(row, 9)
        batch.subjects[id] = try result.subject(row, 10, at: provider)
        batch.state.ledger.load(
            Identity(
                id: id, provider: provider, account: nil,
                lastAccount: AccountID(bits: try result.uuid(row, 11)),
                linkedAt: Timestamp(microseconds: try result.timestamp(row, 12)),
                linkedPosition: LogPosition(try result.count(row, 13))))
    }
}
