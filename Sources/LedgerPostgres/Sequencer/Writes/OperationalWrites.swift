import Ledger
import LedgerEngine
import Postgres

/// The writes of a batch outside the log: the answers of idempotency keys.
enum OperationalWrites {
    // A key whose answer has expired but is not swept yet accepts the new one.
    private static let storeAnswers = RowsStatement(
        "remember_answers",
        [
            "tenant_id": "text", "account_id": "uuid", "scope": "bytea", "fingerprint": "bytea",
            "answer": "text", "key_id": "text",
        ]
    ) { rows in
        """
        INSERT INTO idempotency_records (tenant_id, account_id, scope, fingerprint, answer,
            key_id, answered_at)
        SELECT *, $7::timestamptz
        FROM \(rows)
        ON CONFLICT (tenant_id, account_id, scope)
        DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer,
            key_id = excluded.key_id, answered_at = excluded.answered_at
        """
    }

    static func calls(for batches: [TenantBatch], at now: Timestamp) -> [Call] {
        [answers(batches, at: now)].compactMap(\.self)
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
        return storeAnswers.call(
            rows: records.count,
            [
                .texts(tenants), .uuids(scopes.map { $0.account.bits }),
                .byteArrays(scopes.map { $0.digest.bytes }),
                .byteArrays(records.map { $0.fingerprint.bytes }),
                .texts(records.map { $0.answer.text ?? "" }), .optionalTexts(records.map(\.key)),
            ], [.timestamp(now.microseconds)])
    }
}
