package import Ledger
package import LedgerEngine
package import Postgres

/// Creates, lists and revokes API keys with the login that owns the schema.
///
/// Each change is recorded in the access log in the same transaction.
package struct APIKeyStore {
    private static let insert = Statement(
        "api_key_insert",
        """
        INSERT INTO api_keys (tenant_id, key_id, label, role, secret_digest, created_at, expires_at,
            mac)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """)

    private static let selected = AccessStatements.Columns.selected("a")
    private static let columns = AccessStatements.Columns("a", in: selected)

    private static let list = Statement(
        "api_key_list",
        """
        SELECT \(selected.sql)
        FROM api_keys a WHERE tenant_id = $1 ORDER BY created_at, key_id
        """)

    private static let revoke = Statement(
        "api_key_revoke",
        """
        UPDATE api_keys SET revoked_at = statement_timestamp(), mac = NULL
        WHERE tenant_id = $1 AND key_id = $2 AND revoked_at IS NULL
        """)

    private static let exists = Statement(
        "api_key_exists", "SELECT 1 FROM api_keys WHERE tenant_id = $1 AND key_id = $2")

    /// The outcome of a revocation.
    package enum Revocation: Sendable {
        case revoked
        case revokedBefore
        case unknown
    }

    private let connection: Connection

    /// Uses a connection of the login that owns the schema.
    package init(on connection: Connection) {
        self.connection = connection
    }

    /// Stores a new key of a tenant, with its MAC.
    ///
    /// - Throws: `PostgresError`; ``TenantRefusal`` for a tenant that is being moved.
    package func add(_ key: StoredAPIKey, to tenant: TenantID, macKey: MACKey) throws {
        var access = AccessRecord(by: nil, .createAPIKey)
        access.details = ["key": key.id.description, "role": key.role.rawValue]
        try connection.transaction {
            try TenantMove.refuse(tenant, on: connection)
            _ = try connection.pipeline([
                Call(
                    Self.insert,
                    [
                        .text(tenant.description), .uuid(key.id.bits), .text(key.label),
                        .text(key.role.rawValue), .bytes(key.secretDigest.bytes),
                        .timestamp(key.createdAt.microseconds),
                        key.expiresAt.map { .timestamp($0.microseconds) } ?? .null,
                        .bytes(macKey.mac(of: .apiKey(key, of: tenant)).bytes),
                    ]),
                AccessStatements.call(recording: [access], in: tenant),
            ])
        }
    }

    /// Returns the keys of a tenant, the oldest first.
    ///
    /// - Throws: `PostgresError`.
    package func keys(of tenant: TenantID) throws -> [StoredAPIKey] {
        let rows = try connection.query(Self.list, [.text(tenant.description)])
        return try (0..<rows.rowCount).map { try Self.columns.read(rows, $0) }
    }

    /// Revokes a key permanently; every process refuses it from its next request on.
    ///
    /// - Throws: `PostgresError`; ``TenantRefusal`` for a tenant that is being moved, which the key may be used with
    ///   elsewhere.
    package func revoke(_ key: APIKeyID, of tenant: TenantID) throws -> Revocation {
        let name: [Parameter] = [.text(tenant.description), .uuid(key.bits)]
        var access = AccessRecord(by: nil, .revokeAPIKey)
        access.details = ["key": key.description]
        return try connection.transaction {
            try TenantMove.refuse(tenant, on: connection)
            guard try connection.query(Self.revoke, name).rowsAffected == 1 else {
                return try connection.query(Self.exists, name).rowCount == 1
                    ? .revokedBefore : .unknown
            }
            _ = try connection.pipeline([
                ErasureRequestRows.ending(
                    askedBy: Principal(key: key, role: .admin), in: tenant),
                AccessStatements.call(recording: [access], in: tenant),
            ])
            return .revoked
        }
    }
}

// A connection serves one thread at a time.
@available(*, unavailable)
extension APIKeyStore: Sendable {}
