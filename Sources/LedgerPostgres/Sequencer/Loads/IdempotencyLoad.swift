import Ledger
import LedgerEngine
import Postgres

/// The stored answers of idempotency keys.
enum IdempotencyLoad {
    private static let list: SelectList = ["k.n", "r.fingerprint", "r.key_id", "r.answer"]
    private static let fingerprint = list["r.fingerprint"]
    private static let key = list["r.key_id"]
    private static let answer = list["r.answer"]

    private static let statement = RowsStatement(
        "load_idempotency", ["tenant_id": "text", "account_id": "uuid", "scope": "bytea"],
        ordinal: "n"
    ) { rows in
        """
        SELECT \(list.sql)
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT * FROM idempotency_records
            WHERE tenant_id = k.tenant_id AND account_id = k.account_id AND scope = k.scope
            OFFSET 0) r
        WHERE r.answered_at > statement_timestamp() - make_interval(hours => \(IdempotencyKey.hours))
        """
    }

    static func call(_ keys: BatchKeys.Scopes) -> Call {
        statement.call(
            rows: keys.scopes.count,
            [
                .texts(keys.tenants.map { $0.description }),
                .uuids(keys.scopes.map { $0.account.bits }),
                .byteArrays(keys.scopes.map { $0.digest.bytes }),
            ])
    }

    static func read(
        _ result: QueryResult, of keys: BatchKeys.Scopes, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            let index = try result.keyIndex(row)
            guard let batch = tenants[keys.tenants[index]] else { continue }
            guard let answer = StoredAnswer(text: try result.text(row, answer)) else {
                throw BatchFault.damaged("idempotency_records.answer")
            }
            batch.state.idempotency[keys.scopes[index]] = DecisionState.IdempotencyRecord(
                fingerprint: try result.digest(row, fingerprint),
                key: try result.optionalText(row, key), answer: answer)
        }
    }
}
