import Ledger
import Postgres

/// The statements of API keys and of the access log.
enum AccessStatements {
    private static let keys = Statement(
        "api_keys_of",
        """
        SELECT k.n, a.role, a.secret_digest, a.label, a.created_at, a.expires_at, a.revoked_at
        FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS k (tenant_id, key_id, n)
        CROSS JOIN LATERAL (
            SELECT * FROM api_keys WHERE tenant_id = k.tenant_id AND key_id = k.key_id OFFSET 0) a
        """)

    /// Takes positions and writes lines in one statement, so in one transaction: the head's row stays
    /// locked until the lines are visible.
    private static let write = Statement(
        "record_accesses",
        """
        WITH head AS (
            INSERT INTO access_heads AS h (tenant_id, next_position, last_accessed_at)
            VALUES ($1, $2, clock_timestamp())
            ON CONFLICT (tenant_id) DO UPDATE
            SET next_position = h.next_position + excluded.next_position,
                last_accessed_at = greatest(h.last_accessed_at, clock_timestamp())
            RETURNING next_position - $2 AS first, last_accessed_at)
        INSERT INTO access_log (tenant_id, position, accessed_at, principal, role, action, account_id,
            event_id, details, disclosed, reason, outcome, request_id)
        SELECT $1, head.first + r.n - 1, head.last_accessed_at, r.principal, r.role, r.action,
            r.account_id, r.event_id, r.details, r.disclosed, r.reason, r.outcome, r.request_id
        FROM head, unnest($3::text[], $4::text[], $5::text[], $6::uuid[], $7::uuid[], $8::text[],
            $9::boolean[], $10::text[], $11::text[], $12::uuid[]) WITH ORDINALITY
            AS r (principal, role, action, account_id, event_id, details, disclosed, reason, outcome,
                request_id, n)
        """)

    /// Asks for several keys; see ``keys(_:ids:)``.
    static func call(keys: [(id: APIKeyID, tenant: TenantID)]) -> Call {
        Call(
            self.keys,
            [.texts(keys.map(\.tenant.description)), .uuids(keys.map(\.id.bits))])
    }

    /// The keys that were asked for, by their place among the questions.
    static func keys(
        _ result: QueryResult, ids: [APIKeyID]
    ) throws(PostgresError) -> [Int: StoredAPIKey] {
        var found: [Int: StoredAPIKey] = [:]
        for row in 0..<result.rowCount {
            let index = Int(try result.int8(row, 0)) - 1
            guard ids.indices.contains(index), let role = Role(rawValue: try result.text(row, 1)),
                let digest = Digest(try result.bytes(row, 2))
            else { throw .unexpectedResult("an API key cannot be read") }
            found[index] = StoredAPIKey(
                id: ids[index], role: role, secretDigest: digest, label: try result.text(row, 3),
                createdAt: Timestamp(microseconds: try result.timestamp(row, 4)),
                expiresAt: try result.optionalTimestamp(row, 5).map(Timestamp.init(microseconds:)),
                revokedAt: try result.optionalTimestamp(row, 6).map(Timestamp.init(microseconds:)))
        }
        return found
    }

    /// Appends lines to a tenant's access log, in this order.
    static func call(recording accesses: [AccessRecord], in tenant: TenantID) -> Call {
        Call(
            write,
            [
                .text(tenant.description), .int8(Int64(accesses.count)),
                .texts(accesses.map(\.principalText)), .texts(accesses.map(\.roleText)),
                .texts(accesses.map(\.action.rawValue)),
                .optionalUUIDs(accesses.map { $0.account?.bits }),
                .optionalUUIDs(accesses.map { $0.event?.bits }),
                .texts(accesses.map(\.detailsText)), .bools(accesses.map(\.isDisclosed)),
                .optionalTexts(accesses.map(\.reason)),
                .texts(accesses.map(\.outcome.rawValue)),
                .optionalUUIDs(accesses.map { $0.request?.bits }),
            ])
    }
}
