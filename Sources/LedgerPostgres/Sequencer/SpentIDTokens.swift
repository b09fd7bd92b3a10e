import Ledger
import LedgerEngine
import Postgres

/// The ID tokens that have opened a session, for tenants that accept each token only once.
///
/// They are read and written under the lock of the tenant's head, so that two sequencers never
/// accept the same token. Tenants without that setting run none of these statements.
enum SpentIDTokens {
    private static let loading = RowsStatement(
        "load_spent_id_tokens", ["tenant_id": "text", "digest": "bytea"], ordinal: "n"
    ) { rows in
        """
        SELECT k.n, t.first_used_at
        FROM \(rows)
        CROSS JOIN LATERAL (
            SELECT * FROM spent_id_tokens
            WHERE tenant_id = k.tenant_id AND digest = k.digest
            OFFSET 0) t
        """
    }

    private static let inserting = RowsStatement(
        "remember_spent_id_tokens",
        [
            "tenant_id": "text", "digest": "bytea", "first_used_at": "timestamptz",
            "expires_at": "timestamptz",
        ]
    ) { rows in
        """
        INSERT INTO spent_id_tokens (tenant_id, digest, first_used_at, expires_at)
        SELECT * FROM \(rows)
        """
    }

    static func load(_ keys: BatchKeys.IDTokens) -> Call {
        loading.call(
            rows: keys.digests.count,
            [.texts(keys.tenants.map { $0.description }), .byteArrays(keys.digests.map(\.bytes))])
    }

    static func read(
        _ result: QueryResult, of keys: BatchKeys.IDTokens, into tenants: [TenantID: TenantBatch]
    ) throws {
        for row in 0..<result.rowCount {
            let index = try result.keyIndex(row)
            tenants[keys.tenants[index]]?.state.spentIDTokens[keys.digests[index]] = Timestamp(
                microseconds: try result.timestamp(row, result.column("first_used_at")))
        }
    }

    static func calls(for batches: [TenantBatch]) -> [Call] {
        let spent = batches.flatMap { batch in
            batch.changes.idTokensSpent.map { (batch.tenant, $0.token, $0.at) }
        }
        guard !spent.isEmpty else { return [] }
        return [
            inserting.call(
                rows: spent.count,
                [
                    .texts(spent.map(\.0.description)), .byteArrays(spent.map(\.1.digest.bytes)),
                    .timestamps(spent.map(\.2.microseconds)),
                    .timestamps(spent.map(\.1.expiresAt.microseconds)),
                ])
        ]
    }
}
