import Ledger
import Postgres

/// What a batch leaves beside the log: what budgets remember, and the answers of idempotency keys.
enum OperationalWrites {
    private static let rememberAttempts = Statement(
        "remember_attempts",
        """
        INSERT INTO recent_attempts (tenant_id, account_id, action, provider, digest, outcome,
            attempted_at)
        SELECT * FROM unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::bytea[],
            $6::text[], $7::timestamptz[])
        ON CONFLICT (tenant_id, account_id, action, provider, digest, outcome)
        DO UPDATE SET attempted_at = excluded.attempted_at
        """)

    // A key whose answer has lapsed but is not swept yet takes the new one.
    private static let rememberAnswers = Statement(
        "remember_answers",
        """
        INSERT INTO idempotency_records (tenant_id, account_id, scope, fingerprint, answer,
            answered_at)
        SELECT *, $6::timestamptz
        FROM unnest($1::text[], $2::uuid[], $3::bytea[], $4::bytea[], $5::text[])
        ON CONFLICT (tenant_id, account_id, scope)
        DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer,
            answered_at = excluded.answered_at
        """)

    static func calls(for batches: [TenantBatch], at now: Timestamp) -> [Call] {
        [attempts(batches), answers(batches, at: now)].compactMap(\.self)
    }

    private static func attempts(_ batches: [TenantBatch]) -> Call? {
        var tenants: [String] = []
        var accounts: [UInt128] = []
        var attempts: [DecisionState.Attempt] = []
        var times: [Int64] = []
        for batch in batches {
            for place in batch.changes.attempts {
                guard let time = batch.state.attempts[place.account]?[place.attempt] else {
                    continue
                }
                tenants.append(batch.tenant.description)
                accounts.append(place.account.bits)
                attempts.append(place.attempt)
                times.append(time.microseconds)
            }
        }
        guard !attempts.isEmpty else { return nil }
        return Call(
            rememberAttempts,
            [
                .texts(tenants), .uuids(accounts), .texts(attempts.map(\.action.rawValue)),
                .texts(attempts.map(\.provider.description)),
                .byteses(attempts.map(\.digest.bytes)), .texts(attempts.map(\.outcome)),
                .timestamps(times),
            ])
    }

    private static func answers(_ batches: [TenantBatch], at now: Timestamp) -> Call? {
        var tenants: [String] = []
        var scopes: [IdempotencyScope] = []
        var records: [DecisionState.IdempotencyRecord] = []
        for batch in batches {
            for scope in batch.changes.answers {
                guard let record = batch.state.idempotency[scope] else { continue }
                tenants.append(batch.tenant.description)
                scopes.append(scope)
                records.append(record)
            }
        }
        guard !records.isEmpty else { return nil }
        return Call(
            rememberAnswers,
            [
                .texts(tenants), .uuids(scopes.map(\.account.bits)),
                .byteses(scopes.map(\.digest.bytes)), .byteses(records.map(\.fingerprint.bytes)),
                .texts(records.map { $0.answer.text ?? "" }), .timestamp(now.microseconds),
            ])
    }
}
