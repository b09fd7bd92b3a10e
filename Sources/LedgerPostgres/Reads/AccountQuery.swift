import Ledger
import LedgerEngine
import Postgres
import Synchronization

/// The statement of a batched read, which names the served table of `user_providers`.
///
/// One statement has one snapshot, so the rows match the checkpoint that it reads, both of the table that it
/// names. If another table is served meanwhile, the read is repeated.
final class AccountQuery: Sendable {
    private let tenantCalls = TenantCalls()
    /// The table that was served last, with its statement.
    private let served = Mutex<(table: ProjectionTable, statement: Statement)?>(nil)
    /// The served table and the schema's version (``SchemaFence``), after the read that they validate.
    private static let servedNow = Statement(
        "read_accounts_served",
        """
        SELECT name, generation, version,
            (SELECT max(version) FROM public.ledger_migrations) AS schema_version
        FROM projection_tables WHERE name = 'user_providers' AND state = 'served'
        """)
    /// The maximum number of tables tried for one batch.
    private static let attempts = 4

    private static let list: SelectList = [
        "k.n", "coalesce(p.is_whole OR p.position > a.last_position, false) AS is_folded",
        "u.identity_id", "u.provider", "u.email", "u.linked_at", "u.linked_position",
        "u.email_verified", "d.unlink_due", "f.removal_due", "p.position AS checkpoint",
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
        let unlinkDue = list["d.unlink_due"]
        let removalDue = list["f.removal_due"]
        let checkpoint = list["checkpoint"]
    }

    // The checkpoint of each tenant is read once and first: `MATERIALIZED`. If it is at the log's
    // end, every account is folded, and no account's last position is looked up.
    private static func statement(_ table: ProjectionTable) -> Statement {
        Statement(
            "read_accounts_\(table.generation)",
            """
            WITH checkpoints AS MATERIALIZED (
                SELECT t.tenant_id, p.position, p.position >= h.next_position AS is_whole
                FROM unnest($4::text[]) AS t (tenant_id)
                CROSS JOIN LATERAL (
                    SELECT position FROM projections
                    WHERE tenant_id = t.tenant_id AND name = 'user_providers'
                        AND generation = \(table.generation)
                    OFFSET 0) p
                CROSS JOIN LATERAL (
                    SELECT next_position FROM ledger_head WHERE tenant_id = t.tenant_id OFFSET 0) h)
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
                SELECT second_factors FROM accounts
                WHERE tenant_id = k.tenant_id AND account_id = k.account_id
                    AND second_factors IS NOT NULL
                OFFSET 0) h ON true
            LEFT JOIN LATERAL (
                SELECT removal_due FROM factors
                WHERE tenant_id = k.tenant_id AND factor_id = ANY (h.second_factors)
                    AND removal_due IS NOT NULL
                LIMIT 1) f ON true
            LEFT JOIN LATERAL (
                SELECT * FROM \(table)
                WHERE tenant_id = k.tenant_id AND user_id = k.account_id
                OFFSET 0) u ON true
            LEFT JOIN LATERAL (
                SELECT unlink_due FROM identities
                WHERE tenant_id = k.tenant_id AND provider = u.provider
                    AND provider_id = u.provider_id AND account_id = k.account_id
                OFFSET 0) d ON true
            WHERE s.account_id IS NOT DISTINCT FROM k.account_id
                AND s.ended_position IS NULL AND s.expires_at > statement_timestamp()
            """)
    }

    func answers(
        to batch: [AccountReads.Pending], behind fence: SchemaFence, on connection: Connection
    ) throws -> [AccountReads.Answer] {
        guard try DatabaseEngine(of: connection) == .citus else {
            return try answersAtOnce(to: batch, of: nil, behind: fence, on: connection)
        }
        var answers = Array(repeating: AccountReads.Answer.sessionEnded, count: batch.count)
        for (tenant, indices) in Dictionary(grouping: batch.indices, by: { batch[$0].tenant }) {
            let found = try answersAtOnce(
                to: indices.map { batch[$0] }, of: tenant, behind: fence, on: connection)
            for (index, answer) in zip(indices, found) { answers[index] = answer }
        }
        return answers
    }

    /// Answers with one statement; on Citus, reads of the one tenant that is given there.
    private func answersAtOnce(
        to batch: [AccountReads.Pending], of tenant: TenantID?, behind fence: SchemaFence,
        on connection: Connection
    ) throws -> [AccountReads.Answer] {
        // Closures, because a key path of several properties is evaluated at run time.
        let tenants = batch.map { $0.tenant.description }
        let result = try rows(
            [
                .texts(tenants), .uuids(batch.map { $0.caller.session.bits }),
                .uuids(batch.map { $0.caller.account.bits }), .texts(Array(Set(tenants))),
            ], of: tenant, behind: fence, on: connection)
        var found = Array(repeating: Found(), count: batch.count)
        for row in 0..<result.rowCount {
            try found[try result.keyIndex(row)].add(result, row)
        }
        return found.map { $0.answer }
    }

    /// Reads from the table that was served last, and again while it turns out to be another one.
    private func rows(
        _ parameters: [Parameter], of tenant: TenantID?, behind fence: SchemaFence,
        on connection: Connection
    ) throws -> QueryResult {
        for _ in 0..<Self.attempts {
            let (table, statement) = try servedTable(on: connection)
            do {
                let call = Call(statement, parameters)
                let calls = tenant.map { tenantCalls.calls([call], of: $0) } ?? [call]
                let results = try connection.pipeline(calls + [Call(Self.servedNow)])
                try fence.check(results[1], column: results[1].column("schema_version"))
                if try ProjectionTables.served(results[1]) == table { return results[0] }
            } catch let error as PostgresError where error.state == .undefinedTable {
                // The table was dropped after it had been exchanged.
            }
            served.withLock { $0 = nil }
        }
        throw PostgresError.unexpectedResult("the served table of user_providers keeps changing")
    }

    private func servedTable(
        on connection: Connection
    ) throws(PostgresError) -> (table: ProjectionTable, statement: Statement) {
        if let known = served.withLock({ $0 }) { return known }
        let table = try ProjectionTables.served(.userProviders, on: connection)
        let found = (table: table, statement: Self.statement(table))
        served.withLock { $0 = found }
        return found
    }

    /// The rows of one caller: the account, with one of its identities per row, if any.
    private struct Found {
        /// A caller without a row has no live session, or no account.
        private var hasSession = false
        private var isFolded = true
        /// The projection's checkpoint, if it is behind.
        private var checkpoint: LogPosition?
        private var isDamaged = false
        private var hasPlannedRemoval = false
        private var identities: [LinkedIdentity] = []
        /// The identities' positions, in order.
        private var positions: [Int64] = []

        mutating func add(_ result: QueryResult, _ row: Int) throws {
            hasSession = true
            isFolded = try result.bool(row, columns.isFolded)
            if !isFolded {
                checkpoint = try result.optionalInt8(row, columns.checkpoint)
                    .map { LogPosition($0) }
            }
            hasPlannedRemoval = try !result.isNull(row, columns.removalDue)
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
                        microseconds: try result.timestamp(row, columns.linkedAt)),
                    unlinkDue: try result.optionalTimestamp(row, columns.unlinkDue)
                        .map { Timestamp(microseconds: $0) }), at: index)
        }

        var answer: AccountReads.Answer {
            guard hasSession else { return .sessionEnded }
            guard isFolded else { return .behind(checkpoint) }
            return isDamaged
                ? .damaged
                : .account(
                    LinkedAccount(identities: identities, hasPlannedRemoval: hasPlannedRemoval))
        }
    }
}
