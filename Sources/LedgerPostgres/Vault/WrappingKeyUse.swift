package import Ledger
package import Postgres

/// The remaining uses of encryption keys in one tenant.
package enum WrappingKeyUse {
    /// Data that needs an encryption key.
    package enum Kind: String, CaseIterable, Sendable {
        case webhookSecrets = "secrets of webhooks"
        case accountKeys = "keys of accounts"
        case passwords
        case secondFactors = "second factors"
        case addresses
        case challenges = "open codes"
        case messages = "messages that are unsent or of the last day"
        case requests = "repeated requests of the last day"

        /// Whether `keys rewrap` changes it to the key in use; the others end by themselves.
        package var isRewrapped: Bool {
            switch self {
            case .webhookSecrets, .accountKeys, .passwords, .secondFactors, .addresses: true
            case .challenges, .messages, .requests: false
            }
        }

        /// The column that names the key, its table, and the condition under which the key is needed.
        fileprivate var place: (key: String, table: String, condition: String) {
            switch self {
            case .webhookSecrets: ("wrapping_key", "webhook_secrets", "true")
            case .accountKeys: ("wrapping_key", "account_keys", "true")
            case .passwords: ("wrapping_key", "credentials", "true")
            case .secondFactors: ("wrapping_key", "factors", "true")
            case .addresses: ("key_id", "addresses", "true")
            case .challenges:
                (
                    "k.needed", Self.each(of: "key_id", "wrapping_key", in: "challenges"),
                    "expires_at > statement_timestamp()"
                )
            case .messages:
                (
                    "k.needed", Self.each(of: "wrapping_key", "recipient_key", in: "messages"),
                    "(sealed IS NOT NULL OR created_at > \(Self.dayAgo))"
                )
            case .requests: ("key_id", "idempotency_records", "answered_at > \(Self.dayAgo)")
            }
        }

        private static let dayAgo =
            "statement_timestamp() - make_interval(hours => \(IdempotencyKey.hours))"

        private static func each(of one: String, _ other: String, in table: String) -> String {
            "\(table) t CROSS JOIN LATERAL (VALUES (t.\(one)), (t.\(other))) AS k (needed)"
        }
    }

    /// Finds one of some keys in each kind of data that needs one.
    private static let statement = Statement(
        "uses_wrapping_keys",
        Kind.allCases.map { kind -> String in
            let (key, table, condition) = kind.place
            return """
                (SELECT '\(kind.rawValue)' AS kind, \(key) AS needed FROM \(table)
                WHERE tenant_id = $1::text AND \(key) = ANY ($2::text[]) AND \(condition) LIMIT 1)
                """
        }.joined(separator: "\nUNION ALL\n"))

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
