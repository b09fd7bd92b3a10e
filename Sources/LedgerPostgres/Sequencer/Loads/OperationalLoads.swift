import Ledger
import Postgres

/// How often identities were signed in with lately.
enum SignInCountLoad {
    // statement_timestamp() and not the clock: it is stable, so the index serves the bound.
    private static let statement = RowsStatement(
        "count_sign_ins",
        [
            "tenant_id": "text", "provider": "text", "provider_id": "text",
            "window_seconds": "bigint",
        ], ordinal: "n"
    ) { rows in
        """
        SELECT k.n, i.identity_id, s.count, s.earliest
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT identity_id FROM identities
            WHERE tenant_id = k.tenant_id AND provider = k.provider
                AND provider_id = k.provider_id
            OFFSET 0) i
        CROSS JOIN LATERAL (
            SELECT count(*), min(opened_at) AS earliest FROM sessions
            WHERE tenant_id IS NOT DISTINCT FROM k.tenant_id AND identity_id = i.identity_id
                AND opened_at > statement_timestamp() - make_interval(secs => k.window_seconds)) s
        WHERE s.count > 0
        """
    }

    static func call(
        _ keys: BatchKeys.Subjects, windowSeconds: (TenantID) -> Int64
    ) -> Call {
        statement.call(
            rows: keys.subjects.count,
            [
                .texts(keys.tenants.map { $0.description }),
                .texts(keys.subjects.map { $0.provider.description }),
                .texts(keys.subjects.map { $0.providerID }),
                .int8s(keys.tenants.map(windowSeconds)),
            ])
    }

    static func read(
        _ result: QueryResult, of keys: BatchKeys.Subjects, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            guard let batch = tenants[keys.tenants[try result.keyIndex(row)]] else { continue }
            batch.state.signIns[IdentityID(bits: try result.uuid(row, 1))] =
                DecisionState.SignInCount(
                    count: Int(try result.int8(row, 2)),
                    earliest: Timestamp(microseconds: try result.timestamp(row, 3)))
        }
    }
}

/// The answers that idempotency keys have already.
enum IdempotencyLoad {
    /// How long a key keeps its answer, in hours.
    static let hours = 24

    private static let statement = RowsStatement(
        "load_idempotency", ["tenant_id": "text", "account_id": "uuid", "scope": "bytea"],
        ordinal: "n"
    ) { rows in
        """
        SELECT k.n, r.fingerprint, r.answer
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT * FROM idempotency_records
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id AND scope = k.scope
            OFFSET 0) r
        WHERE r.answered_at > statement_timestamp() - make_interval(hours => \(hours))
        """
    }

    static func call(_ keys: BatchKeys.Scopes) -> Call {
        statement.call(
            rows: keys.scopes.count,
            [
                .texts(keys.tenants.map { $0.description }),
                .uuids(keys.scopes.map { $0.account.bits }),
                .byteses(keys.scopes.map { $0.digest.bytes }),
            ])
    }

    static func read(
        _ result: QueryResult, of keys: BatchKeys.Scopes, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            let index = try result.keyIndex(row)
            guard let batch = tenants[keys.tenants[index]] else { continue }
            guard let answer = StoredAnswer(text: try result.text(row, 2)) else {
                throw BatchFault.damaged("idempotency_records.answer")
            }
            batch.state.idempotency[keys.scopes[index]] = DecisionState.IdempotencyRecord(
                fingerprint: try result.digest(row, 1), answer: answer)
        }
    }
}
