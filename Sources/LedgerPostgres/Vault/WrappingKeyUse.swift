package import Ledger
package import Postgres

/// The remaining uses of encryption keys in one tenant.
package enum WrappingKeyUse {
    /// Finds an account key or a webhook secret that is wrapped with one of some keys, an answer, an address or a
    /// challenge that is found by one, or a message that is unsent or of the last day.
    private static let statement = Statement(
        "uses_wrapping_keys",
        """
        SELECT wrapping_key FROM webhook_secrets
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[])
        UNION ALL
        SELECT wrapping_key FROM account_keys
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[])
        UNION ALL
        SELECT key_id FROM idempotency_records
        WHERE tenant_id = $1::text AND key_id = ANY ($2::text[])
            AND answered_at > statement_timestamp() - make_interval(hours => \(IdempotencyKey.hours))
        UNION ALL
        SELECT wrapping_key FROM credentials
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[])
        UNION ALL
        SELECT wrapping_key FROM factors
        WHERE tenant_id = $1::text AND wrapping_key = ANY ($2::text[])
        UNION ALL
        SELECT key_id FROM addresses
        WHERE tenant_id = $1::text AND key_id = ANY ($2::text[])
        UNION ALL
        SELECT key_id FROM challenges
        WHERE tenant_id = $1::text AND (key_id = ANY ($2::text[]) OR wrapping_key = ANY ($2::text[]))
            AND expires_at > statement_timestamp()
        UNION ALL
        SELECT k.key_id FROM messages m
        CROSS JOIN LATERAL (VALUES (m.wrapping_key), (m.recipient_key)) AS k (key_id)
        WHERE m.tenant_id = $1::text AND k.key_id = ANY ($2::text[]) AND (m.sealed IS NOT NULL
            OR m.created_at > statement_timestamp() - make_interval(hours => \(IdempotencyKey.hours)))
        LIMIT 1
        """)

    /// The migration with which the digests of requests got keys, whatever its number.
    private static let keyedDigests = Statement(
        "keyed_digests_since",
        "SELECT applied_at FROM ledger_migrations WHERE name LIKE 'V%keyed\\_digests.sql'")

    /// Returns one of these keys that the tenant still needs: it wraps an account key or a webhook secret, its
    /// digests name addresses, challenges, or answers or attempts of the last day, or a message has it.
    package static func first(
        of keys: Set<String>, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> String? {
        let rows = try connection.query(
            statement, [.text(tenant.description), .texts(keys.sorted())])
        if rows.rowCount > 0 { return try rows.text(0, 0) }
        return try AttemptKeyUse.first(of: keys, in: tenant, on: connection)
    }

    /// Returns the time of the upgrade from a release whose digests of requests had no keys.
    package static func digestsKeyedAt(
        on connection: Connection
    ) throws(PostgresError) -> Timestamp {
        Timestamp(microseconds: try connection.query(keyedDigests).timestamp(0, 0))
    }
}
