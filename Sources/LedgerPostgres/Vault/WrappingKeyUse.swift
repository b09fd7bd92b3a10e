package import Ledger
package import Postgres

/// The remaining uses of encryption keys in one tenant.
package enum WrappingKeyUse {
    /// Data that needs an encryption key, by the table that names the key.
    package enum Kind: String, Sendable {
        case webhookSecrets = "webhook_secrets"
        case accountKeys = "account_keys"
        case passwords = "credentials"
        case secondFactors = "factors"
        case addresses
        case challenges
        case messages
        /// Answers, or attempts in `accounts`.
        case requests = "idempotency_records"

        /// The words for operators.
        package var name: String {
            switch self {
            case .webhookSecrets: "secrets of webhooks"
            case .accountKeys: "keys of accounts"
            case .passwords: "passwords"
            case .secondFactors: "second factors"
            case .addresses: "addresses"
            case .challenges: "open codes"
            case .messages: "messages that are unsent or of the last day"
            case .requests: "repeated requests of the last day"
            }
        }

        /// Whether `keys rewrap` changes it to the key in use; the others end by themselves.
        package var isRewrapped: Bool {
            switch self {
            case .webhookSecrets, .accountKeys, .passwords, .secondFactors, .addresses: true
            case .challenges, .messages, .requests: false
            }
        }
    }

    /// Finds one of some keys in each kind of data that needs one.
    private static let statement = Statement(
        "uses_wrapping_keys",
        """
        SELECT u.kind, u.needed FROM (
            (SELECT 'webhook_secrets' AS kind, wrapping_key AS needed FROM webhook_secrets
            WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[]) LIMIT 1)
            UNION ALL
            (SELECT 'account_keys' AS kind, wrapping_key AS needed FROM account_keys
            WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[]) LIMIT 1)
            UNION ALL
            (SELECT 'credentials' AS kind, wrapping_key AS needed FROM credentials
            WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[]) LIMIT 1)
            UNION ALL
            (SELECT 'factors' AS kind, wrapping_key AS needed FROM factors
            WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[]) LIMIT 1)
            UNION ALL
            (SELECT 'addresses' AS kind, key_id AS needed FROM addresses
            WHERE tenant_id = $1::text AND key_id = ANY ($2::text[]) LIMIT 1)
            UNION ALL
            (SELECT 'challenges' AS kind, k.id AS needed FROM challenges c
            CROSS JOIN LATERAL (VALUES (c.wrapping_key), (c.key_id)) AS k (id)
            WHERE c.tenant_id = $1::text AND k.id = ANY ($2::text[])
                AND c.expires_at > statement_timestamp() LIMIT 1)
            UNION ALL
            (SELECT 'messages' AS kind, k.id AS needed FROM messages m
            CROSS JOIN LATERAL (VALUES (m.wrapping_key), (m.recipient_key)) AS k (id)
            WHERE m.tenant_id = $1::text AND k.id = ANY ($2::text[])
                AND (m.sealed IS NOT NULL OR m.created_at > statement_timestamp()
                    - make_interval(hours => \(IdempotencyKey.hours))) LIMIT 1)
            UNION ALL
            (SELECT 'idempotency_records' AS kind, key_id AS needed FROM idempotency_records
            WHERE tenant_id = $1::text AND key_id = ANY ($2::text[])
                AND answered_at > statement_timestamp()
                    - make_interval(hours => \(IdempotencyKey.hours)) LIMIT 1)) u
        """)

    /// The migration with which the digests of requests got keys, whatever its number.
    private static let keyedDigests = Statement(
        "keyed_digests_since",
        "SELECT applied_at FROM ledger_migrations WHERE name LIKE 'V%keyed\\_digests.sql'")

    /// Returns the kinds of a tenant's data that need one of these keys, each with a key.
    package static func all(
        of keys: Set<String>, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [(key: String, kind: Kind)] {
        let rows = try connection.query(
            statement, [.text(tenant.description), .texts(keys.sorted())])
        var found: [(key: String, kind: Kind)] = []
        for row in 0..<rows.rowCount {
            let name = try rows.text(row, rows.column("kind"))
            guard let kind = Kind(rawValue: name) else {
                throw .unexpectedResult("a key is used by \(name)")
            }
            found.append((key: try rows.text(row, rows.column("needed")), kind: kind))
        }
        if !found.contains(where: { $0.kind == .requests }),
            let key = try AttemptKeyUse.first(of: keys, in: tenant, on: connection)
        {
            found.append((key: key, kind: .requests))
        }
        return found
    }

    /// Returns the time of the upgrade from a release whose digests of requests had no keys.
    package static func digestsKeyedAt(
        on connection: Connection
    ) throws(PostgresError) -> Timestamp {
        Timestamp(microseconds: try connection.query(keyedDigests).timestamp(0, 0))
    }
}
