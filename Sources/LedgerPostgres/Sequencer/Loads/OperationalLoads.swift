import Ledger
import Postgres

/// How often identities were signed in with lately.
enum SignInCountLoad {
    // statement_timestamp() and not the clock: it is stable, so the index serves the bound.
    private static let statement = Statement(
        "count_sign_ins",
        """
        SELECT k.tenant_id, i.identity_id, s.count, s.earliest
        FROM unnest($1::text[], $2::text[], $3::text[]) AS k (tenant_id, provider, provider_id)
        CROSS JOIN LATERAL (
            SELECT identity_id FROM identities
            WHERE tenant_id = k.tenant_id AND provider = k.provider
                AND provider_id = k.provider_id
            OFFSET 0) i
        CROSS JOIN LATERAL (
            SELECT count(*), min(opened_at) AS earliest FROM sessions
            WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id AND identity_id = i.identity_id
                AND opened_at > statement_timestamp() - make_interval(secs => $4::bigint)) s
        WHERE s.count > 0
        """)

    static func call(_ subjects: BatchKeys.Subjects, windowSeconds: Int64) -> Call {
        Call(
            statement,
            [
                .texts(subjects.tenants), .texts(subjects.providers), .texts(subjects.providerIDs),
                .int8(windowSeconds),
            ])
    }

    static func read(_ result: QueryResult, into tenants: [TenantID: TenantBatch]) throws {
        for row in 0..<result.rowCount {
            let batch = try tenants.batch(result, row)
            batch.state.signIns[IdentityID(bits: try result.uuid(row, 1))] =
                DecisionState.SignInCount(
                    count: Int(try result.int8(row, 2)),
                    earliest: Timestamp(microseconds: try result.timestamp(row, 3)))
        }
    }
}

/// What the budgets of the callers' accounts remember.
enum AttemptLoad {
    private static let statement = Statement(
        "load_attempts",
        """
        SELECT r.tenant_id, r.account_id, r.action, r.provider, r.digest, r.outcome, r.attempted_at
        FROM unnest($1::text[], $2::uuid[]) AS k (tenant_id, account_id)
        CROSS JOIN LATERAL (
            SELECT * FROM recent_attempts
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id
            OFFSET 0) r
        """)

    static func call(_ keys: BatchKeys.Identifiers) -> Call {
        Call(statement, [.texts(keys.tenants), .uuids(keys.ids)])
    }

    static func read(_ result: QueryResult, into tenants: [TenantID: TenantBatch]) throws {
        for row in 0..<result.rowCount {
            let batch = try tenants.batch(result, row)
            guard
                let action = DecisionState.Attempt.Action(rawValue: try result.text(row, 2))
            else { throw BatchFault.damaged("recent_attempts.action") }
            let attempt = DecisionState.Attempt(
                action: action, provider: try result.provider(row, 3),
                digest: try result.digest(row, 4), outcome: try result.text(row, 5))
            let account = AccountID(bits: try result.uuid(row, 1))
            batch.state.attempts[account, default: [:]][attempt] = Timestamp(
                microseconds: try result.timestamp(row, 6))
        }
    }
}

/// The answers that idempotency keys have already.
enum IdempotencyLoad {
    /// How long a key keeps its answer, in hours.
    static let hours = 24

    private static let statement = Statement(
        "load_idempotency",
        """
        SELECT r.tenant_id, r.account_id, r.scope, r.fingerprint, r.answer
        FROM unnest($1::text[], $2::uuid[], $3::bytea[]) AS k (tenant_id, account_id, scope)
        CROSS JOIN LATERAL (
            SELECT * FROM idempotency_records
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id AND scope = k.scope
            OFFSET 0) r
        WHERE r.answered_at > statement_timestamp() - make_interval(hours => \(hours))
        """)

    static func call(_ keys: BatchKeys.Identifiers, scopes: [[UInt8]]) -> Call {
        Call(statement, [.texts(keys.tenants), .uuids(keys.ids), .byteses(scopes)])
    }

    static func read(_ result: QueryResult, into tenants: [TenantID: TenantBatch]) throws {
        for row in 0..<result.rowCount {
            let batch = try tenants.batch(result, row)
            let scope = IdempotencyScope(
                account: AccountID(bits: try result.uuid(row, 1)),
                digest: try result.digest(row, 2))
            guard let answer = StoredAnswer(text: try result.text(row, 4)) else {
                throw BatchFault.damaged("idempotency_records.answer")
            }
            batch.state.idempotency[scope] = DecisionState.IdempotencyRecord(
                fingerprint: try result.digest(row, 3), answer: answer)
        }
    }
}
