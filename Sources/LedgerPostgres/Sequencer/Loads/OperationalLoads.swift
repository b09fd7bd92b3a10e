import Ledger
import Postgres

/// How often identities were signed in with lately.
enum SignInCountLoad {
    // statement_timestamp() and not the clock: it is stable, so the index serves the bound.
    private static let statement = Statement(
        "count_sign_ins",
        """
        SELECT i.tenant_id, i.identity_id, count(*), min(s.opened_at)
        FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[]))
             AS k (tenant_id, provider, provider_id)
        JOIN identities i USING (tenant_id, provider, provider_id)
        JOIN sessions s ON s.tenant_id = i.tenant_id AND s.identity_id = i.identity_id
             AND s.opened_at > statement_timestamp() - make_interval(secs => $4::bigint)
        GROUP BY i.tenant_id, i.identity_id
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
        SELECT r.tenant_id, r.account_id, r.action, r.provider, r.digest, r.attempted_at, r.refusal
        FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::uuid[])) AS k (tenant_id, account_id)
        JOIN recent_attempts r USING (tenant_id, account_id)
        """)

    static func call(_ keys: BatchKeys.Identifiers) -> Call {
        Call(statement, [.texts(keys.tenants), .uuids(keys.ids)])
    }

    static func read(_ result: QueryResult, into tenants: [TenantID: TenantBatch]) throws {
        for row in 0..<result.rowCount {
            let batch = try tenants.batch(result, row)
            guard
                let action = DecisionState.Attempt.Key.Action(rawValue: try result.text(row, 2))
            else { throw BatchFault.damaged("recent_attempts.action") }
            let key = DecisionState.Attempt.Key(
                action: action, provider: try result.provider(row, 3),
                digest: try result.digest(row, 4))
            let account = AccountID(bits: try result.uuid(row, 1))
            batch.state.attempts[account, default: [:]][key] = DecisionState.Attempt(
                key: key, attemptedAt: Timestamp(microseconds: try result.timestamp(row, 5)),
                refusal: try result.optionalText(row, 6))
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
        JOIN idempotency_records r USING (tenant_id, account_id, scope)
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
