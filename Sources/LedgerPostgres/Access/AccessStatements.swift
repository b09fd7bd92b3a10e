package import Ledger
import LedgerEngine
package import Postgres

/// The statements of API keys and of the access log.
package enum AccessStatements {
    /// The columns of an API key in a statement where it has an alias, by their names.
    package struct Columns: Sendable {
        private let id, role, secretDigest, label, createdAt, expiresAt, revokedAt: Int

        /// Returns the columns for the list of the statement.
        package static func selected(_ a: String) -> SelectList {
            [
                "\(a).key_id", "\(a).role", "\(a).secret_digest", "\(a).label", "\(a).created_at",
                "\(a).expires_at", "\(a).revoked_at",
            ]
        }

        /// Finds the columns of an alias in the list of a statement.
        package init(_ a: String, in list: SelectList) {
            id = list["\(a).key_id"]
            role = list["\(a).role"]
            secretDigest = list["\(a).secret_digest"]
            label = list["\(a).label"]
            createdAt = list["\(a).created_at"]
            expiresAt = list["\(a).expires_at"]
            revokedAt = list["\(a).revoked_at"]
        }

        /// Reads the key.
        package func read(
            _ result: QueryResult, _ row: Int
        ) throws(PostgresError) -> StoredAPIKey {
            guard let role = Role(rawValue: try result.text(row, role)),
                let digest = Digest(try result.bytes(row, secretDigest))
            else { throw .unexpectedResult("an API key cannot be read") }
            return StoredAPIKey(
                id: APIKeyID(bits: try result.uuid(row, id)), role: role, secretDigest: digest,
                label: try result.text(row, label),
                createdAt: Timestamp(microseconds: try result.timestamp(row, createdAt)),
                expiresAt: try result.optionalTimestamp(row, expiresAt).map(
                    Timestamp.init(microseconds:)),
                revokedAt: try result.optionalTimestamp(row, revokedAt).map(
                    Timestamp.init(microseconds:)))
        }
    }

    private static let list: SelectList =
        ["k.n"] + Columns.selected("a") + ["a.mac"] + HeadLoad.listOfMany
    private static let key = Columns("a", in: list)
    private static let mac = list["a.mac"]
    private static let head = HeadLoad.Columns("h", in: list)

    // The head shows whether the tenant is protected; it is read only for keys without a MAC.
    private static let keys = Statement(
        "api_keys_of",
        """
        SELECT k.n, \(Columns.selected("a").sql), a.mac, h.*
        FROM unnest($1::text[], $2::uuid[]) WITH ORDINALITY AS k (tenant_id, key_id, n)
        CROSS JOIN LATERAL (
            SELECT * FROM api_keys WHERE tenant_id = k.tenant_id AND key_id = k.key_id OFFSET 0) a
        LEFT JOIN LATERAL (
            SELECT \(HeadLoad.listOfMany.sql) FROM ledger_head h
            WHERE h.tenant_id = k.tenant_id AND a.mac IS NULL
            OFFSET 0) h ON true
        """)

    /// Allocates positions and writes entries in one statement, and so in one transaction.
    ///
    /// The head's row stays locked until the entries are visible.
    private static let write = Statement(
        "record_accesses",
        """
        WITH head AS (
            INSERT INTO access_heads AS h (tenant_id, next_position, last_accessed_at)
            VALUES ($1, $2, statement_timestamp())
            ON CONFLICT (tenant_id) DO UPDATE
            SET next_position = h.next_position + excluded.next_position,
                last_accessed_at = greatest(h.last_accessed_at, excluded.last_accessed_at)
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

    /// Requests several keys; see ``keys(_:of:macs:)``.
    static func call(keys: [(id: APIKeyID, tenant: TenantID)]) -> Call {
        Call(
            self.keys,
            [.texts(keys.map(\.tenant.description)), .uuids(keys.map(\.id.bits))])
    }

    /// Returns the requested keys by index; nil for a key with a wrong MAC.
    static func keys(
        _ result: QueryResult, of tenants: [TenantID], macs: MACKeys
    ) throws -> [Int: StoredAPIKey?] {
        var found: [Int: StoredAPIKey?] = [:]
        for row in 0..<result.rowCount {
            let index = Int(try result.int8(row, 0)) - 1
            guard tenants.indices.contains(index) else {
                throw PostgresError.unexpectedResult("a key that was not asked for")
            }
            let key = try Self.key.read(result, row)
            let isRight = try Self.isRight(key, result, row, in: tenants[index], macs)
            found[index] = .some(isRight ? key : nil)
        }
        return found
    }

    /// Checks a key's MAC.
    ///
    /// A key without a MAC is valid while its tenant is not protected, as the head's own MAC
    /// proves; a revoked key never has one, and is refused anyway.
    private static func isRight(
        _ key: StoredAPIKey, _ result: QueryResult, _ row: Int, in tenant: TenantID,
        _ macs: MACKeys
    ) throws -> Bool {
        guard key.revokedAt == nil else { return true }
        if let stored = try result.optionalBytes(row, mac) {
            return macs.accept(stored, of: .apiKey(key, of: tenant))
        }
        guard try !result.isNull(row, head.tenant) else { return false }
        do {
            return try HeadLoad.readMACs(result, row, of: tenant, keys: macs, columns: head)
                .acceptsRowsWithoutMACs
        } catch is BatchFault {
            return false
        }
    }

    /// Appends entries to a tenant's access log, in this order.
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
