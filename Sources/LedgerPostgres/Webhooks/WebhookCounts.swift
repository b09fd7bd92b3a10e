package import Ledger
import Synchronization

/// How many attempts to reach an endpoint have ended in the same way.
package struct WebhookCount: Hashable, Sendable {
    package let tenant: TenantID
    package let webhook: WebhookID
    /// `delivered`, `refused` or why no answer came.
    package let outcome: String
    package let count: Int
}

/// Counts what the attempts of this process end in.
final class WebhookCounts: Sendable {
    private struct Key: Hashable {
        let tenant: TenantID
        let webhook: WebhookID
        let outcome: String
    }

    private let counts = Mutex<[Key: Int]>([:])

    func add(_ outcome: String, to endpoint: LeasedWebhook) {
        let key = Key(tenant: endpoint.tenant, webhook: endpoint.id, outcome: outcome)
        counts.withLock { $0[key, default: 0] += 1 }
    }

    /// All of them, in a fixed order.
    var all: [WebhookCount] {
        counts.withLock(\.self).map { key, count in
            WebhookCount(
                tenant: key.tenant, webhook: key.webhook, outcome: key.outcome, count: count)
        }.sorted {
            ($0.tenant, $0.webhook, $0.outcome) < ($1.tenant, $1.webhook, $1.outcome)
        }
    }
}
