package import Ledger
package import Postgres

/// The statements over all tenants: each reads only and locks nothing.
///
/// They find tenants and rows of tenants; the work on these is done by statements of one tenant, which say
/// `tenant_id = $n`. The tests of the rules for SQL hold this file to that.
package enum AllTenants {
    static let moves = Statement(
        "tenant_moves", "SELECT tenant_id, state, peer, run FROM tenant_moves ORDER BY tenant_id")

    /// Returns the condition that the tenant of a row is not being moved.
    private static func stays(_ row: String) -> String {
        "NOT EXISTS (SELECT FROM tenant_moves m WHERE m.tenant_id = \(row).tenant_id)"
    }

    // MARK: Logs

    private static let heads = Statement(
        "tenants", "SELECT tenant_id, next_position FROM ledger_head ORDER BY tenant_id")

    private static let servedHeads = Statement(
        "served_tenants",
        """
        SELECT h.tenant_id, h.next_position FROM ledger_head h WHERE \(stays("h"))
        ORDER BY h.tenant_id
        """)

    private static let keyEvents = Statement(
        "opened_tenants",
        """
        SELECT h.tenant_id, h.next_position, e.position, e.entry, e.mac FROM ledger_head h
        LEFT JOIN LATERAL (
            SELECT position, entry, mac FROM events
            WHERE tenant_id = h.tenant_id AND position = 0
            UNION ALL
            SELECT position, entry, mac FROM events
            WHERE tenant_id = h.tenant_id AND type IN ('KeyRotated', 'LedgerRestored')
                AND position > 0
            OFFSET 0) e ON e.position < greatest(h.next_position, 1)
        ORDER BY h.tenant_id, e.position
        """)

    static let dueRemovals = Statement(
        "due_factor_removals",
        """
        SELECT tenant_id, account_id, factor_id, removal_due FROM factors
        WHERE removal_due <= $1 AND (removal_due, factor_id) > ($3, $4) AND \(stays("factors"))
            AND NOT EXISTS (
                SELECT FROM accounts a
                WHERE a.tenant_id = factors.tenant_id AND a.account_id = factors.account_id
                    AND a.disabled_position IS NOT NULL)
        ORDER BY removal_due, factor_id LIMIT $2
        """)

    static let dueUnlinks = Statement(
        "due_unlinks",
        """
        SELECT tenant_id, account_id, identity_id, unlink_due FROM identities
        WHERE unlink_due <= $1 AND (unlink_due, identity_id) > ($3, $4)
            AND account_id IS NOT NULL AND \(stays("identities"))
            AND NOT EXISTS (
                SELECT FROM accounts a
                WHERE a.tenant_id = identities.tenant_id AND a.account_id = identities.account_id
                    AND a.disabled_position IS NOT NULL)
        ORDER BY unlink_due, identity_id LIMIT $2
        """)

    static let sealerLogs = Statement(
        "sealer_logs",
        """
        SELECT h.tenant_id, h.next_position,
            coalesce(l.holder = $1, false) AND \(stays("h")) AS is_held
        FROM ledger_head h LEFT JOIN sealer_leases l ON l.tenant_id = h.tenant_id
        ORDER BY h.tenant_id
        """)

    static let freeLogs = Statement(
        "sealer_free",
        """
        SELECT h.tenant_id
        FROM ledger_head h LEFT JOIN sealer_leases k ON k.tenant_id = h.tenant_id
        WHERE (k.tenant_id IS NULL OR k.holder = $1 OR k.expires_at < statement_timestamp()
                OR k.expires_at > statement_timestamp() + make_interval(secs => 2 * $2::int))
            AND h.tenant_id <> ALL ($3::text[]) AND \(stays("h"))
        ORDER BY h.tenant_id
        """)
    static let heldLogs = Statement(
        "sealer_held", "SELECT tenant_id FROM sealer_leases WHERE holder = $1")

    /// Returns every tenant with a valid name and its log's next position, ordered by name.
    package static func heads(
        on connection: Connection
    ) throws(PostgresError) -> [(tenant: TenantID, next: LogPosition)] {
        try read(heads, on: connection)
    }

    /// Returns those of ``heads(on:)`` that are not being moved: what is stored of the others is not changed.
    package static func servedHeads(
        on connection: Connection
    ) throws(PostgresError) -> [(tenant: TenantID, next: LogPosition)] {
        try read(servedHeads, on: connection)
    }

    private static func read(
        _ heads: Statement, on connection: Connection
    ) throws(PostgresError) -> [(tenant: TenantID, next: LogPosition)] {
        let result = try connection.query(heads)
        var found: [(tenant: TenantID, next: LogPosition)] = []
        for row in 0..<result.rowCount {
            // `verify` reports a head with an invalid tenant.
            guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))) else {
                continue
            }
            let next = LogPosition(try result.int8(row, result.column("next_position")))
            found.append((tenant: tenant, next: next))
        }
        return found
    }

    /// Returns the first event of each log that has begun and those that change its keys, in order, by the
    /// tenant's name, which may be invalid.
    ///
    /// Rows after the head are ignored: a server's login can insert them.
    package static func keyEvents(
        on connection: Connection
    ) throws(PostgresError) -> [String: [(position: Int64, entry: [UInt8], mac: [UInt8]?)]] {
        let result = try connection.query(keyEvents)
        var logs: [String: [(position: Int64, entry: [UInt8], mac: [UInt8]?)]] = [:]
        for row in 0..<result.rowCount {
            let name = try result.text(row, result.column("tenant_id"))
            if let position = try result.optionalInt8(row, result.column("position")) {
                logs[name, default: []].append(
                    (
                        position: position, entry: try result.bytes(row, result.column("entry")),
                        mac: try result.optionalBytes(row, result.column("mac"))
                    ))
            } else if try result.int8(row, result.column("next_position")) > 0 {
                logs[name] = []
            }
        }
        return logs
    }

    // MARK: Projections

    static let projectionsBehind = projectionsBehind("projections_behind", "true")
    // Asks only the nodes that hold the tenants.
    static let projectionsBehindOfSome = projectionsBehind(
        "projections_behind_of_some", "tenant_id = ANY ($2::text[])")

    private static func projectionsBehind(_ name: String, _ tenants: String) -> Statement {
        Statement(
            name,
            """
            SELECT h.tenant_id, t.name, t.generation, t.version, p.position, h.next_position
            FROM (SELECT tenant_id, next_position FROM ledger_head WHERE \(tenants)) h
            CROSS JOIN projection_tables t
            LEFT JOIN LATERAL (
                SELECT * FROM projections
                WHERE tenant_id = h.tenant_id AND name = t.name AND generation = t.generation
                    AND \(tenants)
                OFFSET 0) p ON true
            WHERE t.name = ANY ($1::text[]) AND t.state <> 'building' AND \(stays("h"))
                AND (p.position IS NULL
                    OR (p.position < h.next_position AND p.failure IS NULL AND p.version = t.version))
            ORDER BY h.tenant_id, p.position NULLS FIRST, t.name, t.generation
            """)
    }

    static let figuresBehind = Statement(
        "figures_behind",
        """
        SELECT h.tenant_id, f.tenant_id IS NULL AS is_new FROM ledger_head h
        LEFT JOIN figure_heads f ON f.tenant_id = h.tenant_id
        WHERE h.next_position <> coalesce(f.next_position, 0) AND \(stays("h"))
        ORDER BY h.tenant_id
        """)

    // The event's time comes from a subquery: planned as a join over young tables, it reads all events of a
    // tenant for each row.
    static let projectionStatus = Statement(
        "projection_status",
        """
        SELECT h.tenant_id, t.name, t.generation, t.version, t.state = 'served' AS is_served,
            h.next_position, coalesce(p.position, 0) AS position, p.version AS folded_version,
            p.failure, greatest(0, 1000000
                * extract(epoch FROM clock_timestamp() - (
                    SELECT e.recorded_at FROM events e
                    WHERE e.tenant_id = h.tenant_id AND e.position = coalesce(p.position, 0)
                        AND e.position < h.next_position)))::bigint AS microseconds_behind
        FROM ledger_head h CROSS JOIN projection_tables t
        LEFT JOIN projections p ON p.tenant_id = h.tenant_id AND p.name = t.name
            AND p.generation = t.generation
        WHERE t.state <> 'building' AND \(stays("h"))
        ORDER BY h.tenant_id, t.name, t.generation
        """)

    static let stoppedProjections = Statement(
        "stopped_projections",
        """
        SELECT DISTINCT tenant_id FROM projections
        WHERE failure IS NOT NULL AND \(stays("projections")) ORDER BY tenant_id
        """)

    static let withCheckpoint = Statement(
        "checkpointed_tenants",
        """
        SELECT DISTINCT tenant_id FROM projections WHERE name = $1 AND generation = $2
        ORDER BY tenant_id
        """)

    static let tablePositions = Statement(
        "exchange_standings",
        """
        SELECT h.tenant_id, coalesce(o.position, 0) AS old_position, o.failure AS old_failure,
            coalesce(n.position, 0) AS new_position, n.failure AS new_failure
        FROM ledger_head h
        LEFT JOIN projections o ON o.tenant_id = h.tenant_id AND o.name = $1 AND o.generation = $2
        LEFT JOIN projections n ON n.tenant_id = h.tenant_id AND n.name = $1 AND n.generation = $3
        WHERE \(stays("h"))
        ORDER BY h.tenant_id
        """)

    /// Returns a statement for the number of rows of each tenant in a table, and two sums over them.
    static func sums(of table: String) -> Statement {
        Statement(
            "compare_sums_\(table)",
            """
            SELECT t.tenant_id, count(*) AS count, sum(hashtextextended(t::text, 1))::text AS first,
                sum(hashtextextended(t::text, 2))::text AS second
            FROM \(table) t GROUP BY t.tenant_id
            """)
    }

    // MARK: Rules, erasures and former e-mails

    static let rules = Statement(
        "recorded_rules", "SELECT tenant_id, version, body FROM rules ORDER BY tenant_id")

    static let rulesVersions = Statement(
        "recorded_rules_versions", "SELECT tenant_id, version FROM rules ORDER BY tenant_id")

    static let pendingErasures = Statement(
        "erasures_pending",
        """
        SELECT tenant_id, account_id FROM erasures
        WHERE destroyed_at IS NULL AND (tenant_id, account_id) > ($1::text, $2::uuid)
        ORDER BY tenant_id, account_id LIMIT $3
        """)

    // Also finds erasures of other processes; finding one twice is harmless.
    static let recentErasures = Statement(
        "erasures_recent",
        """
        SELECT tenant_id, account_id FROM erasures
        WHERE erased_at > statement_timestamp() - interval '10 minutes'
        """)

    private static let pendingFormerEmails = Statement(
        "former_emails_tenants",
        """
        SELECT DISTINCT tenant_id FROM identities
        WHERE account_id IS NULL AND former_email IS NULL AND \(stays("identities"))
        ORDER BY tenant_id
        """)

    /// Returns the tenants with an identity whose former e-mail has no digest yet, ordered by name.
    package static func withPendingFormerEmails(
        on connection: Connection
    ) throws(PostgresError) -> [TenantID] {
        let result = try connection.query(pendingFormerEmails)
        var tenants: [TenantID] = []
        for row in 0..<result.rowCount {
            if let tenant = TenantID(try result.text(row, 0)) { tenants.append(tenant) }
        }
        return tenants
    }

    // MARK: Expired records and webhooks

    /// Returns a statement for the ids of rows whose time is a number of seconds ago.
    private static func ended(
        _ name: String, by time: String, in table: String, id: String
    ) -> Statement {
        Statement(
            name,
            """
            SELECT tenant_id, \(id) FROM \(table)
            WHERE \(time) <= statement_timestamp() - make_interval(secs => $1::bigint)
                AND \(stays(table))
            LIMIT $2
            """)
    }

    static let expiredAnswers = ended(
        "expired_answers", by: "answered_at", in: "idempotency_records", id: "account_id, scope")
    static let expiredIDTokens = ended(
        "expired_spent_id_tokens", by: "expires_at", in: "spent_id_tokens", id: "digest")
    static let oldEventTraces = ended(
        "old_event_traces", by: "recorded_at", in: "event_traces", id: "position")
    static let expiredErasureRequests = ended(
        "expired_erasure_requests", by: "expires_at", in: "erasure_requests", id: "request_id")
    static let expiredChallenges = ended(
        "expired_challenges", by: "expires_at", in: "challenges", id: "challenge_id")
    static let endedCodeCounts = ended(
        "ended_code_counts", by: "ends_at", in: "code_counts", id: "scope")

    static let freeWebhooks = Statement(
        "webhook_free",
        """
        SELECT DISTINCT tenant_id FROM webhook_cursors
        WHERE gone_at IS NULL AND (lease IS NULL OR expires_at < statement_timestamp()
            OR expires_at > statement_timestamp() + make_interval(secs => 2 * $1::int))
            AND \(stays("webhook_cursors"))
        ORDER BY tenant_id
        """)

    // MARK: Messages

    // Each tenant gets a share: those that have waited longest first.
    static let dueMessages = Statement(
        "due_messages",
        """
        SELECT tenant_id FROM messages
        WHERE state = 'pending' AND channel = $1 AND next_attempt_at <= statement_timestamp()
            AND expires_at > statement_timestamp() AND \(stays("messages"))
        GROUP BY tenant_id ORDER BY min(next_attempt_at) LIMIT $2
        """)

    static let expiredMessages = Statement(
        "expired_messages",
        """
        SELECT DISTINCT tenant_id FROM messages
        WHERE state = 'pending' AND expires_at <= statement_timestamp()
            AND \(stays("messages"))
        """)

    static let messageBacklog = Statement(
        "message_backlog",
        """
        SELECT channel, count(*) AS count, (1000000
            * extract(epoch FROM statement_timestamp() - min(created_at)))::bigint
            AS oldest_microseconds
        FROM messages WHERE state = 'pending' AND \(stays("messages")) GROUP BY channel ORDER BY channel
        """)

    static let oldMessages = ended(
        "old_messages", by: "created_at", in: "messages", id: "message_id")

    // MARK: Keys

    static let wrappingKeys = Statement(
        "wrapping_keys", "SELECT DISTINCT wrapping_key FROM account_keys ORDER BY 1")

    static let webhookSecrets = Statement(
        "rewrap_webhook_secrets",
        """
        SELECT tenant_id, endpoint_id, secret_id, wrapping_key, wrapped_secret
        FROM webhook_secrets
        WHERE wrapping_key <> $1::text AND \(stays("webhook_secrets"))
        ORDER BY tenant_id, endpoint_id, secret_id
        """)

    /// Returns a statement for a page of the rows `t` that another key than the one in use has written, ordered by
    /// tenant and id.
    static func page(
        of table: String, _ list: SelectList, id: String, key: String = "wrapping_key"
    ) -> Statement {
        Statement(
            "rewrap_page_\(table)",
            """
            SELECT \(list.sql) FROM \(table) t
            WHERE (t.tenant_id, t.\(id)) > ($1::text, $2::uuid) AND t.\(key) <> $3::text
                AND \(stays("t"))
            ORDER BY t.tenant_id, t.\(id) LIMIT 1000
            """)
    }

    /// Returns a statement for a tenant with a row `t` whose MAC has a key, among those of a condition.
    static func usingMACKey(in table: String, where condition: String) -> Statement {
        Statement(
            "mac_key_use_\(table)",
            """
            SELECT t.tenant_id FROM \(table) t
            WHERE substring(t.mac FOR 4) = $1 AND \(condition) LIMIT 1
            """)
    }
}
