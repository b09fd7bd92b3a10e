import Ledger
import Postgres

/// The tenants' heads: the lock that orders everything.
enum HeadLoad {
    private static let makeHeads = Statement(
        "make_heads",
        """
        INSERT INTO ledger_head (tenant_id) SELECT * FROM unnest($1::text[])
        ON CONFLICT DO NOTHING
        """)

    private static let lockHead = Statement(
        "lock_head",
        """
        SELECT tenant_id, next_position, last_recorded_at FROM ledger_head
        WHERE tenant_id = $1::text FOR UPDATE
        """)

    // Sorted before it is locked, so that two processes never wait for each other.
    private static let lockHeads = Statement(
        "lock_heads",
        """
        SELECT tenant_id, next_position, last_recorded_at FROM ledger_head
        WHERE tenant_id = ANY ($1::text[]) ORDER BY tenant_id FOR UPDATE
        """)

    /// The clock and the schema's version (``SchemaFence``).
    ///
    /// A statement of its own after the lock: `now()` would be the transaction's start, and the snapshot
    /// of a statement that waited for the lock may be older than the migration that it waited for.
    static let clock = Statement(
        "read_clock",
        "SELECT clock_timestamp(), (SELECT max(version) FROM public.ledger_migrations)")

    static func make(_ tenants: Set<TenantID>) -> Call {
        Call(makeHeads, [.texts(tenants.sorted().map { $0.description })])
    }

    static func lock(_ tenants: Set<TenantID>) -> Call {
        if tenants.count == 1, let tenant = tenants.first {
            return Call(lockHead, [.text(tenant.description)])
        }
        return Call(lockHeads, [.texts(tenants.sorted().map { $0.description })])
    }

    static func read(
        _ result: QueryResult, into tenants: inout [TenantID: TenantBatch], keyring: WrappingKeyring
    ) throws {
        for row in 0..<result.rowCount {
            guard let tenant = TenantID(try result.text(row, 0)) else {
                throw BatchFault.damaged("ledger_head.tenant_id")
            }
            tenants[tenant] = TenantBatch(
                tenant: tenant, firstPosition: LogPosition(try result.count(row, 1)),
                lastRecordedAt: Timestamp(microseconds: try result.timestamp(row, 2)),
                keyring: keyring)
        }
    }
}
