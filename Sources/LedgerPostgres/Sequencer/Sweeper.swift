import Ledger
import Postgres

/// Deletes expired records: answers of idempotency keys, and spent ID tokens.
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

    // The lock prevents the deletion of a row that is rewritten at the same time.
    private static let answers = Statement(
        "sweep_answers",
        """
        WITH lapsed AS (
            SELECT tenant_id, account_id, scope FROM idempotency_records
            WHERE answered_at <= statement_timestamp() - make_interval(secs => $1::bigint)
            LIMIT $2 FOR UPDATE SKIP LOCKED)
        DELETE FROM idempotency_records USING lapsed
        WHERE idempotency_records.tenant_id = lapsed.tenant_id
          AND idempotency_records.account_id = lapsed.account_id
          AND idempotency_records.scope = lapsed.scope
        """)

    // A spent token counts as long as any process may still accept it by its own clock.
    private static let idTokens = Statement(
        "sweep_spent_id_tokens",
        """
        DELETE FROM spent_id_tokens WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM spent_id_tokens
            WHERE expires_at <= statement_timestamp() - make_interval(secs => $1::bigint)
            LIMIT $2))
        """)
    private static let clockDifferenceSeconds: Int64 = 3_600

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
                "SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off")
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
    }

    private func sweep(_ statement: Statement, olderThan seconds: Int64) async throws -> Int {
        var total = 0
        for _ in 0..<Self.batchesMax where !Task.isCancelled {
            let count = try await session.run { connection in
                try connection.query(statement, [.int8(seconds), .int8(Self.batchLimit)])
                    .rowsAffected
            }
            total += count
            if count < Self.batchLimit { break }
        }
        return total
    }
}
