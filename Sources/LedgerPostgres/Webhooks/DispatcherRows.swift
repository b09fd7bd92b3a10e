import Cryptography
import Ledger
import LedgerEngine
import Postgres

/// The statements of a dispatcher: leases, reads, and writes under a lease.
enum DispatcherRows {
    // A clock that was set back must not extend a lease beyond twice its length. A lease that ends a little
    // after a new one was taken by a statement that began later.
    private static let takeLeases = Statement(
        "webhook_take_leases",
        """
        WITH free AS (
            SELECT c.endpoint_id
            FROM webhook_cursors c
            JOIN webhook_endpoints e ON e.tenant_id = $1 AND e.endpoint_id = c.endpoint_id
            WHERE c.tenant_id = $1 AND e.disabled_at IS NULL AND c.gone_at IS NULL AND (
                c.lease IS NULL OR c.expires_at < statement_timestamp()
                OR c.expires_at > statement_timestamp() + make_interval(secs => 2 * $3::int))
            ORDER BY c.endpoint_id FOR UPDATE OF c SKIP LOCKED)
        UPDATE webhook_cursors c
        SET lease = $2, expires_at = statement_timestamp() + make_interval(secs => $3::int)
        FROM free f WHERE c.tenant_id = $1 AND c.endpoint_id = f.endpoint_id
        RETURNING c.tenant_id, c.endpoint_id
        """)
    private static let endpointState = Statement(
        "webhook_standing",
        """
        SELECT coalesce(c.lease = $3, false) AS is_held,
            e.disabled_at IS NULL AND c.gone_at IS NULL AS is_enabled, e.revision,
            c.next_position, e.url, e.types
        FROM webhook_cursors c
        JOIN webhook_endpoints e ON e.tenant_id = $1 AND e.endpoint_id = c.endpoint_id
        WHERE c.tenant_id = $1 AND c.endpoint_id = $2
        """)
    private static let secrets = Statement(
        "webhook_secrets",
        """
        SELECT secret_id, wrapping_key, wrapped_secret, ends_at FROM webhook_secrets
        WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY made_at DESC, secret_id
        """)
    private static let pending = Statement(
        "webhook_pending",
        """
        SELECT position, event_id, type, accounts, attempts, next_attempt_at,
            CASE WHEN status IN (429, 503) THEN attempted_at END AS refused_at
        FROM webhook_deliveries
        WHERE tenant_id = $1 AND endpoint_id = $2 AND state = 'pending' ORDER BY position
        """)
    // By the entry, not by the column derived from it.
    private static let page = Statement(
        "webhook_page",
        """
        SELECT position, CASE WHEN cardinality($4::bytea[]) = 0
            OR EXISTS (SELECT FROM unnest($4::bytea[]) AS n (piece)
                WHERE position(n.piece IN entry) > 0)
            THEN entry END AS entry, mac
        FROM events WHERE tenant_id = $1 AND position >= $2 ORDER BY position LIMIT $3
        """)
    private static let entries = Statement(
        "webhook_entries",
        """
        SELECT k.position, e.entry, e.mac, (
            SELECT traceparent FROM event_traces WHERE tenant_id = $1 AND position = k.position)
        FROM unnest($2::bigint[]) AS k (position)
        CROSS JOIN LATERAL (
            SELECT entry, mac FROM events WHERE tenant_id = $1 AND position = k.position OFFSET 0) e
        """)

    private static let hold = Statement(
        "webhook_hold",
        """
        WITH held AS (
            UPDATE webhook_cursors
            SET expires_at = statement_timestamp() + make_interval(secs => $4::int)
            WHERE tenant_id = $1 AND endpoint_id = $2 AND lease = $3
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'webhook_cursors') FROM held
        """)
    private static let delete = Statement(
        "webhook_delivered",
        """
        DELETE FROM webhook_deliveries
        WHERE tenant_id = $1 AND endpoint_id = $2 AND position = ANY ($3::bigint[])
        """)
    private static let note = Statement(
        "webhook_not_taken",
        """
        UPDATE webhook_deliveries d
        SET state = n.state, attempts = n.attempts, next_attempt_at = n.next_attempt_at,
            attempted_at = n.attempted_at, status = n.status, fault = n.fault
        FROM unnest($3::bigint[], $4::text[], $5::int[], $6::timestamptz[], $7::timestamptz[],
            $8::bigint[], $9::text[])
            AS n (position, state, attempts, next_attempt_at, attempted_at, status, fault)
        WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.position = n.position
        """)
    private static let insert = Statement(
        "webhook_insert",
        """
        INSERT INTO webhook_deliveries (tenant_id, endpoint_id, position, event_id, type, accounts,
            state, attempts, next_attempt_at)
        SELECT $1, $2, n.position, n.event_id, n.type, string_to_array(n.accounts, ',')::uuid[],
            'pending', 0, n.next_attempt_at
        FROM unnest($3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::timestamptz[])
            AS n (position, event_id, type, accounts, next_attempt_at)
        """)
    private static let advance = Statement(
        "webhook_advance",
        """
        WITH moved AS (
            UPDATE webhook_cursors SET next_position = $4
            WHERE tenant_id = $1 AND endpoint_id = $2 AND next_position = $3
            RETURNING 1)
        SELECT ledger_expect(count(*), 1, 'webhook_cursors') FROM moved
        """)
    private static let leave = Statement(
        "webhook_gone",
        """
        UPDATE webhook_cursors SET gone_at = statement_timestamp()
        WHERE tenant_id = $1 AND endpoint_id = $2
        """)
    private static let release = Statement(
        "webhook_release",
        """
        UPDATE webhook_cursors SET lease = NULL, expires_at = NULL
        WHERE tenant_id = $1 AND endpoint_id = $2 AND lease = $3
        """)

    // MARK: - Reading

    /// Acquires the free leases of every tenant; returns rows of tenant and endpoint, one result a tenant.
    static func takeLeases(
        _ lease: EntityID<WebhookLease>, seconds: Int32, on connection: Connection
    ) throws(PostgresError) -> [QueryResult] {
        let tenants = try connection.query(AllTenants.freeWebhooks, [.int4(seconds)])
        var calls: [Call] = []
        for row in 0..<tenants.rowCount {
            calls.append(
                Call(
                    takeLeases,
                    [.text(try tenants.text(row, 0)), .uuid(lease.bits), .int4(seconds)]))
        }
        return try connection.pipeline(calls)
    }

    static func stateCall(_ endpoint: LeasedWebhook) -> Call {
        Call(endpointState, key(endpoint) + [.uuid(endpoint.lease.bits)])
    }

    static func secretsCall(_ endpoint: LeasedWebhook) -> Call {
        Call(secrets, key(endpoint))
    }

    static func pendingCall(_ endpoint: LeasedWebhook) -> Call {
        Call(pending, key(endpoint))
    }

    static func pageCall(
        of tenant: TenantID, from: LogPosition, limit: Int, types: [String]
    ) -> Call {
        Call(
            page,
            [
                .text(tenant.description), .int8(from.value), .int8(Int64(limit)),
                .byteArrays(fragments(types)),
            ])
    }

    /// Returns the strings of which the entry of a wanted event holds one; empty when all events are wanted.
    ///
    /// A restore is sent to every endpoint, since it invalidates events that were sent.
    private static func fragments(_ types: [String]) -> [[UInt8]] {
        guard !types.isEmpty else { return [] }
        return (types.compactMap(Event.Name.init(rawValue:)) + [.ledgerRestored]).flatMap { type in
            var query = EventQuery(limit: 0)
            query.type = type
            return query.fragments.map { Array($0.utf8) }
        }
    }

    static func entriesCall(of tenant: TenantID, at positions: [LogPosition]) -> Call {
        Call(entries, [.text(tenant.description), .int8s(positions.map(\.value))])
    }

    /// Reads the result of ``stateCall(_:)``; returns nil when the endpoint was removed.
    static func endpointState(_ rows: QueryResult) throws(PostgresError) -> EndpointState? {
        guard rows.rowCount == 1 else { return nil }
        return EndpointState(
            isHeld: try rows.bool(0, rows.column("is_held")),
            isEnabled: try rows.bool(0, rows.column("is_enabled")),
            revision: try rows.int8(0, rows.column("revision")),
            next: LogPosition(try rows.int8(0, rows.column("next_position"))),
            url: try rows.text(0, rows.column("url")),
            types: try rows.textArray(0, rows.column("types")))
    }

    static func items(_ rows: QueryResult) throws(PostgresError) -> [DeliveryQueue.Item] {
        var items: [DeliveryQueue.Item] = []
        for row in 0..<rows.rowCount {
            items.append(
                DeliveryQueue.Item(
                    position: LogPosition(try rows.int8(row, rows.column("position"))),
                    event: EventID(bits: try rows.uuid(row, rows.column("event_id"))),
                    type: try rows.text(row, rows.column("type")),
                    accounts: try rows.uuidArray(row, rows.column("accounts")).map(
                        AccountID.init(bits:)),
                    attempts: Int(try rows.int4(row, rows.column("attempts"))),
                    next: Timestamp(
                        microseconds: try rows.timestamp(row, rows.column("next_attempt_at"))),
                    refusedAt: try rows.optionalTimestamp(row, rows.column("refused_at")).map(
                        Timestamp.init(microseconds:))))
        }
        return items
    }

    // MARK: - Writing under a lease

    static func holdCall(_ endpoint: LeasedWebhook, seconds: Int32) -> Call {
        Call(hold, key(endpoint) + [.uuid(endpoint.lease.bits), .int4(seconds)])
    }

    static func releaseCall(_ endpoint: LeasedWebhook) -> Call {
        Call(release, key(endpoint) + [.uuid(endpoint.lease.bits)])
    }

    static func calls(_ changes: DeliveryChanges, of endpoint: LeasedWebhook) -> [Call] {
        let key = key(endpoint)
        var calls: [Call] = []
        if !changes.delivered.isEmpty {
            calls.append(Call(delete, key + [.int8s(changes.delivered.map(\.value))]))
        }
        if !changes.failedAttempts.isEmpty {
            let all = changes.failedAttempts
            calls.append(
                Call(
                    note,
                    key + [
                        .int8s(all.map(\.item.position.value)),
                        .texts(all.map { $0.isDead ? "dead" : "pending" }),
                        .int4s(all.map { Int32($0.item.attempts) }),
                        .timestamps(all.map(\.item.next.microseconds)),
                        .timestamps(all.map(\.attemptedAt.microseconds)),
                        .optionalInt8s(all.map { $0.status.map(Int64.init) }),
                        .optionalTexts(all.map(\.fault)),
                    ]))
        }
        if !changes.added.isEmpty {
            let all = changes.added
            calls.append(
                Call(
                    insert,
                    key + [
                        .int8s(all.map(\.position.value)), .uuids(all.map(\.event.bits)),
                        .texts(all.map(\.type)),
                        .texts(
                            all.map { $0.accounts.map(\.description).joined(separator: ",") }),
                        .timestamps(all.map(\.next.microseconds)),
                    ]))
        }
        if let moved = changes.moved {
            calls.append(
                Call(advance, key + [.int8(moved.from.value), .int8(moved.to.value)]))
        }
        if changes.isGone { calls.append(Call(leave, key)) }
        return calls
    }

    private static func key(_ endpoint: LeasedWebhook) -> [Parameter] {
        [.text(endpoint.tenant.description), .uuid(endpoint.id.bits)]
    }
}
