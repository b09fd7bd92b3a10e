internal import Cryptography
package import Ledger
package import LedgerEngine
package import Postgres
package import StandardWebhooks

/// Adds, changes and removes endpoints with the login that owns the schema.
///
/// Each change is recorded in the access log, in the same transaction, and refused with ``TenantRefusal`` for a
/// tenant that is being moved.
package struct WebhookStore {
    /// The maximum number of dead letters that are listed or sent again at a time.
    package static let deadLettersMax = 1_000

    private static let insert = Statement(
        "webhook_add",
        """
        INSERT INTO webhook_endpoints (tenant_id, endpoint_id, url, types, revision, created_at)
        VALUES ($1, $2, $3, $4, 0, clock_timestamp())
        """)
    private static let insertCursor = Statement(
        "webhook_add_cursor",
        """
        INSERT INTO webhook_cursors (tenant_id, endpoint_id, next_position)
        SELECT $1, $2, coalesce($3::bigint, next_position) FROM ledger_head
        WHERE tenant_id = $1 AND coalesce($3::bigint, next_position) <= next_position
        RETURNING next_position
        """)
    private static let insertSecret = Statement(
        "webhook_add_secret",
        """
        INSERT INTO webhook_secrets (tenant_id, endpoint_id, secret_id, wrapping_key,
            wrapped_secret, made_at)
        VALUES ($1, $2, $3, $4, $5, clock_timestamp())
        """)
    private static let endSecrets = Statement(
        "webhook_end_secrets",
        """
        WITH over AS (
            DELETE FROM webhook_secrets
            WHERE tenant_id = $1 AND endpoint_id = $2 AND ends_at <= statement_timestamp())
        UPDATE webhook_secrets
        SET ends_at = statement_timestamp() + make_interval(secs => $3::bigint)
        WHERE tenant_id = $1 AND endpoint_id = $2 AND ends_at IS NULL
        """)
    private static let enable = Statement(
        "webhook_enable",
        """
        UPDATE webhook_endpoints SET disabled_at = NULL, revision = revision + 1
        WHERE tenant_id = $1 AND endpoint_id = $2
        """)
    private static let disable = Statement(
        "webhook_disable",
        """
        UPDATE webhook_endpoints
        SET disabled_at = statement_timestamp(), revision = revision + 1
        WHERE tenant_id = $1 AND endpoint_id = $2
        """)
    private static let comeBack = Statement(
        "webhook_come_back",
        "UPDATE webhook_cursors SET gone_at = NULL WHERE tenant_id = $1 AND endpoint_id = $2")
    private static let attemptNow = Statement(
        "webhook_attempt_now",
        """
        UPDATE webhook_deliveries SET next_attempt_at = to_timestamp(0)
        WHERE tenant_id = $1 AND endpoint_id = $2 AND state = 'pending'
        """)
    private static let change = Statement(
        "webhook_change",
        """
        UPDATE webhook_endpoints SET revision = revision + 1
        WHERE tenant_id = $1 AND endpoint_id = $2
        """)
    // Only dead letters that are not pending: of two concurrent changes none may be lost.
    private static let replay = Statement(
        "webhook_replay",
        """
        UPDATE webhook_deliveries
        SET state = 'pending', attempts = 0, next_attempt_at = to_timestamp(0)
        WHERE tenant_id = $1 AND endpoint_id = $2 AND state = 'dead' AND position IN (
            SELECT position FROM webhook_deliveries
            WHERE tenant_id = $1 AND endpoint_id = $2 AND state = 'dead'
                AND position = coalesce($3::bigint, position)
            ORDER BY position LIMIT $4)
        """)
    private static let deadLetters = Statement(
        "webhook_dead_letters",
        """
        SELECT position, event_id, type, accounts, attempts, attempted_at,
            coalesce(status::text, fault, '') AS reason
        FROM webhook_deliveries
        WHERE tenant_id = $1 AND endpoint_id = $2 AND state = 'dead'
        ORDER BY position LIMIT $3
        """)
    private static let tables = [
        "webhook_endpoints", "webhook_cursors", "webhook_secrets", "webhook_deliveries",
    ]

    private let connection: Connection
    private let tenant: TenantID
    private let now: Timestamp

    /// Creates a store on a connection of the login that owns the schema; `now` is for the ids of secrets.
    package init(_ tenant: TenantID, at now: Timestamp, on connection: Connection) {
        self.tenant = tenant
        self.now = now
        self.connection = connection
    }

    /// Adds an endpoint.
    ///
    /// - Parameters:
    ///   - id: A new identifier.
    ///   - url: The URL that events are sent to.
    ///   - types: The event types; empty for all.
    ///   - from: The first position to send; nil for events appended from now on.
    ///   - secret: The signing secret.
    ///   - keyring: Wraps the secret.
    /// - Returns: The first position to process; nil when it is beyond the end of the log.
    /// - Throws: `PostgresError`.
    package func add(
        _ id: WebhookID, url: String, types: [Event.Name], from: LogPosition?,
        secret: WebhookSecret, keyring: WrappingKeyring
    ) throws -> LogPosition? {
        let types = types.map(\.rawValue)
        return try changing {
            let cursor = try connection.query(
                Self.insertCursor, key(id) + [from.map { .int8($0.value) } ?? .null])
            guard cursor.rowCount == 1 else { return nil }
            let first = LogPosition(try cursor.int8(0, 0))
            _ = try connection.query(Self.insert, key(id) + [.text(url), .texts(types)])
            try add(secret, to: id, keyring: keyring)
            try record(
                .addWebhook, id,
                ["from": first.description, "types": types.joined(separator: ",")])
            return first
        }
    }

    /// Returns the endpoints of the tenant, oldest first.
    ///
    /// - Throws: `PostgresError`.
    package func webhooks() throws -> [Webhook] {
        try WebhookList.of(tenant, on: connection)
    }

    /// Removes an endpoint with its pending events; returns false when it does not exist.
    ///
    /// - Throws: `PostgresError`.
    package func remove(_ id: WebhookID) throws -> Bool {
        try changing {
            var counts: [Int] = []
            for table in Self.tables {
                let statement = Statement(
                    "webhook_remove_\(table)",
                    "DELETE FROM \(table) WHERE tenant_id = $1 AND endpoint_id = $2")
                counts.append(try connection.query(statement, key(id)).rowsAffected)
            }
            guard counts.first == 1 else { return false }
            try record(.removeWebhook, id)
            return true
        }
    }

    /// Enables or disables an endpoint; events appended while it is disabled are sent afterwards.
    ///
    /// - Returns: False when the endpoint does not exist.
    /// - Throws: `PostgresError`.
    package func setEnabled(_ isEnabled: Bool, _ id: WebhookID) throws -> Bool {
        try changing {
            let changed = try connection.query(
                isEnabled ? Self.enable : Self.disable, key(id))
            guard changed.rowsAffected == 1 else { return false }
            if isEnabled {
                _ = try connection.query(Self.comeBack, key(id))
                _ = try connection.query(Self.attemptNow, key(id))
            }
            try record(isEnabled ? .enableWebhook : .disableWebhook, id)
            return true
        }
    }

    /// Adds a secret to an endpoint; the former ones continue to sign for some seconds.
    ///
    /// False when the endpoint does not exist.
    ///
    /// - Throws: `PostgresError`.
    package func rotate(
        _ id: WebhookID, to secret: WebhookSecret, overlapSeconds: Int64, keyring: WrappingKeyring
    ) throws -> Bool {
        try changing {
            guard try isChanged(id) else { return false }
            _ = try connection.query(Self.endSecrets, key(id) + [.int8(overlapSeconds)])
            try add(secret, to: id, keyring: keyring)
            try record(.rotateWebhookSecret, id, ["overlap_seconds": "\(overlapSeconds)"])
            return true
        }
    }

    /// Returns the first ``deadLettersMax`` dead letters, in the order of the log.
    ///
    /// - Throws: `PostgresError`.
    package func deadLetters(of id: WebhookID) throws -> [DeadLetter] {
        let rows = try connection.query(
            Self.deadLetters, key(id) + [.int8(Int64(Self.deadLettersMax))])
        return try (0..<rows.rowCount).map { row in
            DeadLetter(
                position: LogPosition(try rows.int8(row, rows.column("position"))),
                event: EventID(bits: try rows.uuid(row, rows.column("event_id"))),
                type: try rows.text(row, rows.column("type")),
                accounts: try rows.uuidArray(row, rows.column("accounts")).map(
                    AccountID.init(bits:)),
                attempts: Int(try rows.int4(row, rows.column("attempts"))),
                attemptedAt: try rows.optionalTimestamp(row, rows.column("attempted_at")).map(
                    Timestamp.init(microseconds:)),
                reason: try rows.text(row, rows.column("reason")))
        }
    }

    /// Sends dead letters again: one, or the first ``deadLettersMax``.
    ///
    /// - Returns: The number of events; nil when the endpoint does not exist.
    /// - Throws: `PostgresError`.
    package func replay(_ id: WebhookID, position: LogPosition?) throws -> Int? {
        try changing {
            guard try isChanged(id) else { return nil }
            let replayed = try connection.query(
                Self.replay,
                key(id) + [
                    position.map { .int8($0.value) } ?? .null, .int8(Int64(Self.deadLettersMax)),
                ])
            try record(
                .replayWebhook, id, ["position": position.map(\.description) ?? "all"])
            return replayed.rowsAffected
        }
    }

    /// Runs a change in a transaction.
    ///
    /// - Throws: ``TenantRefusal`` for a tenant that is being moved.
    private func changing<Value>(_ body: () throws -> Value) throws -> Value {
        try connection.transaction {
            try TenantMove.refuse(tenant, on: connection)
            return try body()
        }
    }

    /// Increments the revision of an endpoint, so that its dispatcher reloads it; returns false when it does
    /// not exist.
    private func isChanged(_ id: WebhookID) throws(PostgresError) -> Bool {
        try connection.query(Self.change, key(id)).rowsAffected == 1
    }

    private func add(
        _ secret: WebhookSecret, to id: WebhookID, keyring: WrappingKeyring
    ) throws(PostgresError) {
        let secretID = WebhookSecretID(at: now, random: SecureRandom.uint128())
        guard
            let wrapped = keyring.wrap(secret, tenant: tenant, endpoint: id, id: secretID)
        else { throw .unexpectedResult("no key wraps the secret") }
        _ = try connection.query(
            Self.insertSecret,
            key(id) + [
                .uuid(secretID.bits), .text(wrapped.wrappingKey), .bytes(wrapped.wrapped),
            ])
    }

    private func record(
        _ action: AccessAction, _ id: WebhookID, _ details: [String: String] = [:]
    ) throws(PostgresError) {
        var access = AccessRecord(by: nil, action)
        access.details = details.merging(["webhook": id.description]) { $1 }
        _ = try connection.pipeline([AccessStatements.call(recording: [access], in: tenant)])
    }

    private func key(_ id: WebhookID) -> [Parameter] {
        [.text(tenant.description), .uuid(id.bits)]
    }
}

// A connection is used by one thread at a time.
@available(*, unavailable)
extension WebhookStore: Sendable {}
