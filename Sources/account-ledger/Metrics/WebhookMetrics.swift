import LedgerEngine
import LedgerPostgres

/// The metrics of webhooks, for tenants that have some.
enum WebhookMetrics {
    /// Writes the state of the endpoints and the results of this process's delivery attempts.
    static func write(
        _ webhooks: [Webhook], outcomes: [WebhookCount], to page: inout MetricsText
    ) {
        guard !webhooks.isEmpty else { return }
        gauge(
            "ledger_webhook_lag_events", "Events not yet processed for a webhook.", webhooks,
            \.lag, to: &page)
        gauge(
            "ledger_webhook_pending_events", "Events queued for a webhook.",
            webhooks, \.pending, to: &page)
        gauge(
            "ledger_webhook_dead_events", "Events whose delivery to a webhook was given up.",
            webhooks,
            \.dead, to: &page)
        page.begin(
            "ledger_webhook_enabled", .gauge,
            "Whether events are sent: 0 after an operator or the receiver (410) has stopped it.")
        for webhook in webhooks {
            page.sample(
                "ledger_webhook_enabled", labels(webhook), webhook.state == .enabled ? 1 : 0)
        }
        page.begin(
            "ledger_webhook_attempts_total", .counter,
            "Delivery attempts of this process, by result.")
        for outcome in outcomes {
            page.sample(
                "ledger_webhook_attempts_total",
                [
                    "tenant": "\(outcome.tenant)", "webhook": "\(outcome.webhook)",
                    "outcome": outcome.outcome,
                ], Double(outcome.count))
        }
    }

    private static func gauge(
        _ name: String, _ help: String, _ webhooks: [Webhook], _ value: (Webhook) -> Int64,
        to page: inout MetricsText
    ) {
        page.begin(name, .gauge, help)
        for webhook in webhooks { page.sample(name, labels(webhook), Double(value(webhook))) }
    }

    private static func labels(_ webhook: Webhook) -> KeyValuePairs<String, String> {
        ["tenant": "\(webhook.tenant)", "webhook": "\(webhook.id)"]
    }
}
