import Ledger
import LedgerEngine
import Postgres

extension Rewrapping {
    private static let storeWebhookSecret = Statement(
        "rewrap_webhook_secret",
        """
        UPDATE webhook_secrets SET wrapping_key = $5, wrapped_secret = $6
        WHERE tenant_id = $1 AND endpoint_id = $2 AND secret_id = $3 AND wrapped_secret = $4
            AND NOT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $1)
        """)

    /// Rewraps the secrets of webhooks one by one: a tenant has only a few.
    func rewrapWebhooks(on connection: Connection, report: inout RewrapReport) throws {
        let current = keyring.currentID
        let rows = try connection.query(AllTenants.webhookSecrets, [.text(current)])
        for row in 0..<rows.rowCount {
            let endpoint = WebhookID(bits: try rows.uuid(row, rows.column("endpoint_id")))
            let id = WebhookSecretID(bits: try rows.uuid(row, rows.column("secret_id")))
            let wrapped = try rows.bytes(row, rows.column("wrapped_secret"))
            guard let tenant = TenantID(try rows.text(row, rows.column("tenant_id"))),
                let secret = keyring.unwrap(
                    wrapped, wrappingKey: try rows.text(row, rows.column("wrapping_key")),
                    tenant: tenant,
                    endpoint: endpoint, id: id),
                let again = keyring.wrap(secret, tenant: tenant, endpoint: endpoint, id: id),
                again.wrappingKey == current
            else {
                report.addUnreadable(.webhookSecrets, endpoint.description)
                continue
            }
            let stored = try connection.query(
                Self.storeWebhookSecret,
                [
                    .text(tenant.description), .uuid(endpoint.bits), .uuid(id.bits),
                    .bytes(wrapped), .text(current), .bytes(again.wrapped),
                ])
            report.add(Int64(stored.rowsAffected), .webhookSecrets)
        }
    }
}
