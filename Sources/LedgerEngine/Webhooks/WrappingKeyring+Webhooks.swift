internal import Cryptography
package import Ledger
package import StandardWebhooks

extension WrappingKeyring {
    private static let webhookContext = Array("webhook-secret:".utf8)

    /// Encrypts a secret for the `webhook_secrets` table, bound to tenant, endpoint and its own id.
    package func wrap(
        _ secret: WebhookSecret, tenant: TenantID, endpoint: WebhookID, id: WebhookSecretID
    ) -> (wrappingKey: String, wrapped: [UInt8])? {
        seal(secret.bytes, additional: Self.additional(tenant, endpoint, id))
    }

    /// Decrypts a secret; nil if the wrapping key is unknown or the bytes were changed.
    package func unwrap(
        _ wrapped: [UInt8], wrappingKey: String, tenant: TenantID, endpoint: WebhookID,
        id: WebhookSecretID
    ) -> WebhookSecret? {
        open(
            wrapped, wrappingKey: wrappingKey, additional: Self.additional(tenant, endpoint, id)
        ).flatMap(WebhookSecret.init(bytes:))
    }

    private static func additional(
        _ tenant: TenantID, _ endpoint: WebhookID, _ id: WebhookSecretID
    ) -> [UInt8] {
        var bytes = webhookContext
        bytes.append(contentsOf: tenant.description.utf8)
        bytes.append(UInt8(ascii: "/"))
        endpoint.appendText(to: &bytes)
        bytes.append(UInt8(ascii: "/"))
        id.appendText(to: &bytes)
        return bytes
    }
}
