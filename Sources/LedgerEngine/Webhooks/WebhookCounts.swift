package import Ledger
import Synchronization

/// The number of attempts to reach an endpoint that ended in the same outcome.
package struct WebhookCount: Hashable, Sendable {
    package let tenant: TenantID
    package let webhook: WebhookID
    /// `delivered`, `refused` or the reason why there was no response.
    package let outcome: String
    package let count: Int
}

/// Counts the outcomes of this process's attempts.
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

    /// All counts, in a fixed order.
    var all: [WebhookCount] {
        counts.withLock(\.self).map { key, count in
            WebhookCount(
                tenant: key.tenant, webhook: key.webhook, outcome: key.outcome, count: count)
        }.sorted {
            ($0.tenant, $0.webhook, $0.outcome) < ($1.tenant, $1.webhook, $1.outcome)
        }
    }
}
