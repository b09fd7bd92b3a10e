import Ledger
import Postgres

/// The statement of a batched read.
///
/// One statement has one snapshot, so the rows match the checkpoint that it reads. This holds even
/// if another table is swapped in, because the statement keeps the view until it has read.
enum AccountQuery {
    private static let list: SelectList = [
        "k.n", "coalesce(p.is_whole OR p.position > a.last_position, false) AS is_folded",
        "u.identity_id", "u.provider", "u.email", "u.linked_at", "u.linked_position",
        "u.email_verified",
    ]
    private static let columns = Columns()

    /// The positions of the columns.
    private struct Columns {
        let isFolded = list["is_folded"]
        let identity = list["u.identity_id"]
        let provider = list["u.provider"]
        let email = list["u.email"]
        let linkedAt = list["u.linked_at"]
        let linkedPosition = list["u.linked_position"]
        let isVerified = list["u.email_verified"]
    }

    // The checkpoint of each tenant is read once and first: `MATERIALIZED`. If it is at the log's
    // end, every account is folded, and no account's last position is looked up.
    private static let statement = Statement(
        "read_accounts",
        """
        WITH checkpoints AS MATERIALIZED (
            SELECT t.tenant_id, p.position, p.position >= h.next_position AS is_whole
            FROM unnest($4::text[]) AS t (tenant_id)
            CROSS JOIN projection_tables g
            CROSS JOIN LATERAL (
                SELECT position FROM projections
                WHERE tenant_id = t.tenant_id AND name = g.name AND generation = g.generation
                OFFSET 0) p
            CROSS JOIN LATERAL (
                SELECT next_position FROM ledger_head WHERE tenant_id = t.tenant_id OFFSET 0) h
            WHERE g.name = 'user_providers' AND g.state = 'served')
        SELECT \(list.sql)
        FROM unnest($1::text[], $2::uuid[], $3::uuid[]) WITH ORDINALITY
             AS k (tenant_id, session_id, account_id, n)
        CROSS JOIN LATERAL (
            SELECT * FROM sessions
            WHERE tenant_id = k.tenant_id AND session_id = k.session_id
            OFFSET 0) s
        LEFT JOIN checkpoints p ON p.tenant_id = k.tenant_id
        LEFT JOIN LATERAL (
            SELECT last_position FROM accounts
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id
                AND NOT coalesce(p.is_whole, false)
            OFFSET 0) a ON true
        LEFT JOIN LATERAL (
            SELECT * FROM user_providers
            WHERE tenant_id = k.tenant_id AND user_id = k.account_id
            OFFSET 0) u ON true
        WHERE s.account_id IS NOT DISTINCT FROM k.account_id
            AND s.ended_position IS NULL AND s.expires_at > statement_timestamp()
        """)

    static func answers(
        to batch: [AccountReads.Pending], behind fence: SchemaFence, on connection: Connection
    ) throws -> [AccountReads.Answer] {
        // Closures, because a key path of several properties is evaluated at run time.
        let tenants = batch.map { $0.tenant.description }
        let results = try connection.pipeline([
            Call(
                statement,
                [
                    .texts(tenants), .uuids(batch.map { $0.caller.session.bits }),
                    .uuids(batch.map { $0.caller.account.bits }), .texts(Array(Set(tenants))),
                ]), Call(SchemaFence.version),
        ])
        try fence.check(results[1])
        let result = results[0]
        var found = Array(repeating: Found(), count: batch.count)
        for row in 0..<result.rowCount {
            try found[try result.keyIndex(row)].add(result, row)
        }
        return found.map { $0.answer }
    }

    /// The rows of one caller: the account, with one of its identities per row, if any.
    private struct Found {
        /// A caller without a row has no live session, or no account.
        private var hasSession = false
        private var isFolded = true
        private var isDamaged = false
        private var identities: [LinkedIdentity] = []
        /// The identities' positions, in order.
        private var positions: [Int64] = []

        mutating func add(_ result: QueryResult, _ row: Int) throws {
            hasSession = true
            isFolded = try result.bool(row, columns.isFolded)
            guard let id = try result.optionalUUID(row, columns.identity) else { return }
            guard let provider = ProviderName(try result.text(row, columns.provider)) else {
                isDamaged = true
                return
            }
            let position = try result.int8(row, columns.linkedPosition)
            let index = positions.lastIndex { $0 <= position }.map { $0 + 1 } ?? 0
            positions.insert(position, at: index)
            let isVerified = try result.optionalBool(row, columns.isVerified)
            identities.insert(
                LinkedIdentity(
                    id: IdentityID(bits: id), provider: provider,
                    email: try result.optionalText(row, columns.email).map {
                        Email($0, isVerified: isVerified)
                    },
                    linkedAt: Timestamp(
                        microseconds: try result.timestamp(row, columns.linkedAt))), at: index)
        }

        var answer: AccountReads.Answer {
            guard hasSession else { return .sessionEnded }
            guard isFolded else { return .behind }
            return isDamaged ? .damaged : .identities(identities)
        }
    }
}
