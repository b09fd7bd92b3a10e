package import Ledger
import LedgerEngine
package import Postgres

/// The data that an erasure would destroy.
package enum ErasurePreview: Sendable {
    /// The data stored about an account.
    package struct Rows: Sendable {
        /// The number of events that touch the account.
        package fileprivate(set) var events: Int64 = 0
        package fileprivate(set) var identities: Int64 = 0
        package fileprivate(set) var liveSessions: Int64 = 0
        package fileprivate(set) var hasKey = false
        package fileprivate(set) var holds: [HoldID] = []
        /// All accounts that would be erased because they were merged, including the named one.
        package fileprivate(set) var covering: [AccountID] = []
        /// The account that absorbed the named one, or the named one itself.
        package fileprivate(set) var survivor: AccountID

        /// Returns the plan of the erasure that is to be confirmed.
        package func plan(of account: AccountID) -> ErasurePlan {
            ErasurePlan(account: account, survivor: survivor, covers: covering, holds: holds)
        }
    }

    /// No account ever had this name.
    case unknown
    /// The account is already erased.
    case erased(at: LogPosition)
    case living(Rows)

    private static let tenantCalls = TenantCalls()
    private static let family = Statement(
        "erasure_preview_family", "\(AccountLoad.family) SELECT account_id FROM family")

    private static let rows = Statement(
        "erasure_preview",
        """
        SELECT x.position, a.next_seq, coalesce(a.legal_holds, '{}') AS legal_holds,
            (SELECT count(*) FROM identities
             WHERE tenant_id = $1 AND last_account_id = $2) AS identities,
            (SELECT count(*) FROM identities i JOIN sessions s ON s.tenant_id = $1
                AND s.identity_id = i.identity_id AND s.account_id = $2
                AND s.ended_position IS NULL
             WHERE i.tenant_id = $1 AND i.last_account_id = $2) AS live_sessions,
            EXISTS (SELECT FROM account_keys WHERE tenant_id = $1 AND account_id = $2) AS has_key,
            a.merged_into
        FROM (SELECT) one
        LEFT JOIN erasures x ON x.tenant_id = $1 AND x.account_id = $2
        LEFT JOIN accounts a ON a.tenant_id = $1 AND a.account_id = $2
        """)

    /// Reads the data stored about an account.
    ///
    /// - Throws: `PostgresError`.
    package static func read(
        _ account: AccountID, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> ErasurePreview {
        let first = try connection.query(
            rows, [.text(tenant.description), .uuid(account.bits)])
        if let position = try first.optionalInt8(0, first.column("position")) {
            return .erased(at: LogPosition(position))
        }
        guard try first.optionalInt8(0, first.column("next_seq")) != nil else { return .unknown }
        let call = Call(
            family,
            [
                .texts([tenant.description]), .uuids([account.bits]), .texts([]), .texts([]),
                .texts([]), .texts([]), .byteArrays([]),
            ])
        let calls =
            try DatabaseEngine(of: connection) == .citus
            ? Self.tenantCalls.calls([call], of: tenant) : [call]
        guard let found = try connection.pipeline(calls).first else { return .unknown }
        var total = Rows(survivor: account)
        for index in 0..<found.rowCount {
            let member = AccountID(bits: try found.uuid(index, 0))
            let row = try connection.query(
                rows, [.text(tenant.description), .uuid(member.bits)])
            total.events += try row.optionalInt8(0, row.column("next_seq")) ?? 0
            total.identities += try row.int8(0, row.column("identities"))
            total.liveSessions += try row.int8(0, row.column("live_sessions"))
            total.hasKey = try row.bool(0, row.column("has_key")) || total.hasKey
            total.holds += try row.uuidArray(0, row.column("legal_holds")).map { HoldID(bits: $0) }
            if try row.optionalUUID(0, row.column("merged_into")) == nil { total.survivor = member }
            total.covering.append(member)
        }
        return .living(total)
    }

    private static let left = Statement(
        "erasure_left",
        """
        SELECT count(*) FROM erasures
        WHERE tenant_id = $1 AND account_id = ANY ($2::uuid[]) AND destroyed_at IS NOT NULL
        """)

    /// Checks whether all data of these accounts is destroyed.
    ///
    /// - Throws: `PostgresError`.
    package static func areDestroyed(
        _ accounts: [AccountID], of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> Bool {
        let row = try connection.query(
            left, [.text(tenant.description), .uuids(accounts.map(\.bits))])
        return try row.int8(0, 0) == Int64(accounts.count)
    }

    // The first account of an AccountsUnmerged is the survivor, which may have been absorbed itself
    // later.
    private static func formerSurvivors(_ audit: ProjectionTable) -> Statement {
        Statement(
            "\(audit)_former_survivors",
            """
            WITH RECURSIVE survivor AS (
                SELECT k.account_id FROM unnest($2::uuid[]) AS k (account_id)
                UNION
                SELECT e.account_id FROM survivor s
                JOIN \(audit) a ON a.tenant_id = $1 AND a.account_id = s.account_id
                    AND a.type = 'AccountsUnmerged'
                JOIN events e ON e.tenant_id = $1 AND e.position = a.position)
            SELECT s.account_id FROM survivor s
            WHERE s.account_id <> ALL ($2::uuid[]) AND NOT EXISTS (
                SELECT FROM erasures x
                WHERE x.tenant_id = $1 AND x.account_id = s.account_id)
            ORDER BY s.account_id
            """)
    }

    /// Returns the live accounts that once absorbed any of these and released it again.
    ///
    /// Events recorded during the merge are about these accounts.
    ///
    /// - Throws: `PostgresError`.
    package static func formerSurvivors(
        of accounts: [AccountID], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [AccountID] {
        let audit = try ProjectionTables.served(.accountAudit, on: connection)
        let rows = try connection.query(
            formerSurvivors(audit), [.text(tenant.description), .uuids(accounts.map(\.bits))])
        var found: [AccountID] = []
        for row in 0..<rows.rowCount { found.append(AccountID(bits: try rows.uuid(row, 0))) }
        return found
    }
}
