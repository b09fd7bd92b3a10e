import Ledger
import Postgres

/// Deletes expired records: answers of idempotency keys, spent ID tokens, challenges, requests for erasures, counts of
/// codes, what remains of messages, and traces; and ended sessions of the console.
///
/// Several processes may each run one: rows locked by another transaction are left for the next
/// round.
package final class Sweeper: Sendable {
    /// The pause between two rounds.
    package static let pause = Duration.seconds(60)
    /// The maximum number of rows in one transaction.
    private static let batchLimit: Int64 = 1_000
    /// The maximum number of transactions in one round.
    private static let batchesMax = 1_000

    /// A kind of records: the statement that finds expired ones of all tenants, and the one that deletes those
    /// of one tenant by their keys.
    private struct Kind: Sendable {
        let expired: Statement
        let delete: Statement
        /// Reads the keys of some rows of `expired`.
        let keys: @Sendable (QueryResult, [Int]) throws(PostgresError) -> [Parameter]
    }

    // The lock prevents the deletion of a row that is rewritten at the same time.
    private static let answers = Kind(
        expired: AllTenants.expiredAnswers,
        delete: Statement(
            "delete_answers",
            """
            WITH expired AS (
                SELECT r.account_id, r.scope
                FROM unnest($3::uuid[], $4::bytea[]) AS k (account_id, scope)
                CROSS JOIN LATERAL (
                    SELECT account_id, scope FROM idempotency_records
                    WHERE tenant_id = $1 AND account_id = k.account_id AND scope = k.scope
                        AND answered_at <= statement_timestamp() - make_interval(secs => $2::bigint)
                    FOR UPDATE SKIP LOCKED) r)
            DELETE FROM idempotency_records r USING expired e
            WHERE r.tenant_id = $1 AND r.account_id = e.account_id AND r.scope = e.scope
            """)
    ) { result, rows throws(PostgresError) in
        let (account, scope) = (try result.column("account_id"), try result.column("scope"))
        var (accounts, scopes): ([UInt128], [[UInt8]]) = ([], [])
        for row in rows {
            accounts.append(try result.uuid(row, account))
            scopes.append(try result.bytes(row, scope))
        }
        return [.uuids(accounts), .byteArrays(scopes)]
    }

    // A spent token counts as long as any process may still accept it by its own clock.
    private static let idTokens = Kind(
        expired: AllTenants.expiredIDTokens,
        delete: Statement(
            "delete_spent_id_tokens",
            """
            DELETE FROM spent_id_tokens
            WHERE tenant_id = $1 AND digest = ANY ($3::bytea[])
                AND expires_at <= statement_timestamp() - make_interval(secs => $2::bigint)
            """)
    ) { result, rows throws(PostgresError) in try result.digests("digest", rows) }

    private static let challenges = Kind(
        expired: AllTenants.expiredChallenges,
        delete: Statement(
            "delete_expired_challenges",
            """
            DELETE FROM challenges
            WHERE tenant_id = $1 AND challenge_id = ANY ($3::uuid[])
                AND expires_at <= statement_timestamp() - make_interval(secs => $2::bigint)
            """)
    ) { result, rows throws(PostgresError) in try result.ids("challenge_id", rows) }

    // By their own ids: an account may have another request by now.
    private static let erasureRequests = Kind(
        expired: AllTenants.expiredErasureRequests,
        delete: Statement(
            "delete_expired_erasure_requests",
            """
            DELETE FROM erasure_requests
            WHERE tenant_id = $1 AND request_id = ANY ($3::uuid[])
                AND expires_at <= statement_timestamp() - make_interval(secs => $2::bigint)
            """)
    ) { result, rows throws(PostgresError) in try result.ids("request_id", rows) }

    private static let codeCounts = Kind(
        expired: AllTenants.endedCodeCounts,
        delete: Statement(
            "delete_code_counts",
            """
            DELETE FROM code_counts
            WHERE tenant_id = $1 AND scope = ANY ($3::bytea[])
                AND ends_at <= statement_timestamp() - make_interval(secs => $2::bigint)
            """)
    ) { result, rows throws(PostgresError) in try result.digests("scope", rows) }

    private static let traces = Kind(
        expired: AllTenants.oldEventTraces,
        delete: Statement(
            "delete_event_traces",
            """
            DELETE FROM event_traces
            WHERE tenant_id = $1 AND position = ANY ($3::bigint[])
                AND recorded_at <= statement_timestamp() - make_interval(secs => $2::bigint)
            """)
    ) { result, rows throws(PostgresError) in
        let position = try result.column("position")
        var positions: [Int64] = []
        for row in rows { positions.append(try result.int8(row, position)) }
        return [.int8s(positions)]
    }

    private static let messages = Kind(
        expired: AllTenants.oldMessages,
        delete: Statement(
            "delete_messages",
            """
            DELETE FROM messages
            WHERE tenant_id = $1 AND message_id = ANY ($3::uuid[])
                AND created_at <= statement_timestamp() - make_interval(secs => $2::bigint)
            """)
    ) { result, rows throws(PostgresError) in try result.ids("message_id", rows) }

    // They belong to no tenant.
    private static let staffSessions = Statement(
        "delete_console_sessions",
        """
        DELETE FROM console_sessions WHERE token_digest IN (
            SELECT token_digest FROM console_sessions
            WHERE expires_at <= statement_timestamp() - make_interval(secs => $1::bigint)
            LIMIT $2 FOR UPDATE SKIP LOCKED)
        """)

    /// As ``staffSessions``, without row locks, which Citus does not take across shards.
    private static let staffSessionsOnCitus = Statement(
        "delete_console_sessions",
        """
        DELETE FROM console_sessions WHERE token_digest IN (
            SELECT token_digest FROM console_sessions
            WHERE expires_at <= statement_timestamp() - make_interval(secs => $1::bigint)
            LIMIT $2)
        """)

    private static let clockDifferenceSeconds: Int64 = 3_600
    /// How long support can see what became of a message.
    private static let messageSeconds: Int64 = 90 * 86_400

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Creates a sweeper, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - onFault: Called with one line, free of personal data, for each failed round.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        session = Postgres.Session(url: url, applicationName: "account-ledger sweeper") {
            // A bitmap scan of an index finds expired answers; each is then read by its key.
            try $0.execute(
                ConnectionSettings.oneConnectionPerNode
                    + "SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off")
        }
        self.onFault = onFault
    }

    /// Sweeps once a minute until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do {
                _ = try await sweep()
            } catch {
                onFault("sweeping failed: \(error)")
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await session.close()
    }

    /// Sweeps one round.
    ///
    /// - Returns: The number of deleted rows.
    /// - Throws: `PostgresError`; earlier deletions of the round remain.
    package func sweep() async throws -> Int {
        try await sweep(Self.answers, olderThan: Int64(IdempotencyKey.hours) * 3_600)
            + sweep(Self.idTokens, olderThan: Self.clockDifferenceSeconds)
            + sweep(Self.challenges, olderThan: 0)
            + sweep(Self.erasureRequests, olderThan: Self.clockDifferenceSeconds)
            + sweep(Self.codeCounts, olderThan: Self.clockDifferenceSeconds)
            + sweep(Self.messages, olderThan: Self.messageSeconds)
            + sweep(Self.traces, olderThan: TraceWrites.seconds)
            + session.run { connection in
                try connection.query(
                    try DatabaseEngine(of: connection) == .citus
                        ? Self.staffSessionsOnCitus : Self.staffSessions,
                    [.int8(Self.clockDifferenceSeconds), .int8(Self.batchLimit)]
                ).rowsAffected
            }
    }

    private func sweep(_ kind: Kind, olderThan seconds: Int64) async throws -> Int {
        var total = 0
        for _ in 0..<Self.batchesMax where !Task.isCancelled {
            let count = try await session.run { connection in
                let found = try connection.query(
                    kind.expired, [.int8(seconds), .int8(Self.batchLimit)])
                let tenant = try found.column("tenant_id")
                var rows: [String: [Int]] = [:]
                for row in 0..<found.rowCount {
                    rows[try found.text(row, tenant), default: []].append(row)
                }
                let deleted = try connection.pipeline(
                    try rows.sorted { $0.key < $1.key }.map { tenant, rows in
                        Call(
                            kind.delete,
                            [.text(tenant), .int8(seconds)] + (try kind.keys(found, rows)))
                    })
                return deleted.reduce(0) { $0 + $1.rowsAffected }
            }
            total += count
            if count < Self.batchLimit { break }
        }
        return total
    }
}

extension QueryResult {
    /// Returns the ids in a column of some rows, as a parameter.
    fileprivate func ids(_ name: String, _ rows: [Int]) throws(PostgresError) -> [Parameter] {
        let column = try column(name)
        var ids: [UInt128] = []
        for row in rows { ids.append(try uuid(row, column)) }
        return [.uuids(ids)]
    }

    /// Returns the digests in a column of some rows, as a parameter.
    fileprivate func digests(_ name: String, _ rows: [Int]) throws(PostgresError) -> [Parameter] {
        let column = try column(name)
        var digests: [[UInt8]] = []
        for row in rows { digests.append(try bytes(row, column)) }
        return [.byteArrays(digests)]
    }
}
