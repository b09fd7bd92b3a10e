import Ledger
import LedgerEngine
import Postgres

/// Reads the states of endpoints.
enum WebhookList {
    /// Returns a query of the endpoints `e`; `tenant` is the SQL expression of their tenant.
    private static func query(of tenant: String) -> String {
        """
        SELECT e.tenant_id, e.endpoint_id, e.url, e.types, e.created_at, e.disabled_at IS NOT NULL AS is_disabled,
            c.gone_at IS NOT NULL AS is_gone, c.next_position,
            coalesce(h.next_position, 0) AS head, d.pending, d.dead
        FROM webhook_endpoints e
        JOIN webhook_cursors c ON c.tenant_id = \(tenant) AND c.endpoint_id = e.endpoint_id
        LEFT JOIN ledger_head h ON h.tenant_id = \(tenant)
        CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE state = 'pending') AS pending,
                count(*) FILTER (WHERE state = 'dead') AS dead
            FROM webhook_deliveries
            WHERE tenant_id = \(tenant) AND endpoint_id = e.endpoint_id) d
        """
    }

    private static let every = Statement(
        "webhooks_all",
        "\(query(of: "e.tenant_id")) ORDER BY e.tenant_id, e.created_at, e.endpoint_id")
    private static let ofTenant = Statement(
        "webhooks_of",
        """
        \(query(of: "$1::text"))
        WHERE e.tenant_id = $1::text ORDER BY e.created_at, e.endpoint_id
        """)

    /// Returns the endpoints of all tenants, by tenant, oldest first.
    static func all(on connection: Connection) throws(PostgresError) -> [Webhook] {
        try webhooks(try connection.query(every))
    }

    /// Returns the endpoints of a tenant, oldest first.
    static func of(
        _ tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [Webhook] {
        try webhooks(try connection.query(ofTenant, [.text(tenant.description)]))
    }

    private static func webhooks(_ rows: QueryResult) throws(PostgresError) -> [Webhook] {
        var webhooks: [Webhook] = []
        for row in 0..<rows.rowCount {
            guard let tenant = TenantID(try rows.text(row, rows.column("tenant_id"))) else {
                continue
            }
            let next = try rows.int8(row, rows.column("next_position"))
            webhooks.append(
                Webhook(
                    tenant: tenant,
                    id: WebhookID(bits: try rows.uuid(row, rows.column("endpoint_id"))),
                    url: try rows.text(row, rows.column("url")),
                    types: try rows.textArray(row, rows.column("types")),
                    createdAt: Timestamp(
                        microseconds: try rows.timestamp(row, rows.column("created_at"))),
                    state: try rows.bool(row, rows.column("is_gone"))
                        ? .gone
                        : try rows.bool(row, rows.column("is_disabled")) ? .disabled : .enabled,
                    next: LogPosition(next),
                    lag: max(0, try rows.int8(row, rows.column("head")) - next),
                    pending: try rows.int8(row, rows.column("pending")),
                    dead: try rows.int8(row, rows.column("dead"))))
        }
        return webhooks
    }
}
