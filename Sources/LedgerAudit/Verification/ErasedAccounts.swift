import Ledger
import Postgres

/// The erased accounts of a tenant according to the table of erasures.
///
/// They determine which disclosures may be missing; that the log has erased these accounts and no others is
/// verified like everything else.
struct ErasedAccounts: Sendable {
    /// A row of `erasures`.
    struct Row: Sendable {
        let position: LogPosition
        /// Whether the worker has recorded that no disclosure is left.
        let isDestroyed: Bool
    }

    private(set) var rows: [AccountID: Row] = [:]

    private static let all = Statement(
        "verify_erasures",
        """
        SELECT account_id, position, destroyed_at IS NOT NULL AS is_destroyed
        FROM erasures WHERE tenant_id = $1
        """)

    private static let keys = Statement(
        "verify_keys_of_erased",
        """
        SELECT x.account_id, x.position FROM erasures x
        CROSS JOIN LATERAL (
            SELECT FROM account_keys WHERE tenant_id = $1 AND account_id = x.account_id OFFSET 0) w
        WHERE x.tenant_id = $1 ORDER BY x.position LIMIT 20
        """)

    /// Reads a tenant's rows.
    init(of tenant: TenantID, on connection: Connection) throws(PostgresError) {
        let result = try connection.query(Self.all, [.text(tenant.description)])
        rows.reserveCapacity(result.rowCount)
        for row in 0..<result.rowCount {
            rows[AccountID(bits: try result.uuid(row, result.column("account_id")))] = Row(
                position: LogPosition(try result.int8(row, result.column("position"))),
                isDestroyed: try result.bool(row, result.column("is_destroyed")))
        }
    }

    /// Creates an empty set.
    init() {}

    /// Returns the erased accounts that still have a key, which should be none.
    static func keyed(
        of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [(account: AccountID, position: LogPosition)] {
        let result = try connection.query(keys, [.text(tenant.description)])
        var found: [(account: AccountID, position: LogPosition)] = []
        for row in 0..<result.rowCount {
            found.append(
                (
                    account: AccountID(bits: try result.uuid(row, result.column("account_id"))),
                    position: LogPosition(try result.int8(row, result.column("position")))
                ))
        }
        return found
    }

    /// Returns the erasure that covers an event's disclosures about its first account.
    subscript(_ recorded: RecordedEvent) -> Row? {
        guard !rows.isEmpty, let about = recorded.accounts.first?.id else { return nil }
        return rows[about]
    }
}
