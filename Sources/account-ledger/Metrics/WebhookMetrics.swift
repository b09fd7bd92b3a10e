import LedgerPostgres

/// What the metrics say of webhooks, where a tenant has some.
enum WebhookMetrics {
    /// Writes how the endpoints stand, and what the attempts of this process have ended in.
    static func write(
        _ webhooks: [Webhook], outcomes: [WebhookCount], to page: inout MetricsText
    ) {
        guard !webhooks.isEmpty else { return }
        gauge(
            "ledger_webhook_lag_events", "Events that were not looked at for a webhook.", webhooks,
            \.lag, to: &page)
        gauge(
            "ledger_webhook_pending_events", "Events that are on their way to a webhook.",
            webhooks, \.pending, to: &page)
        gauge(
            "ledger_webhook_dead_events", "Events that were given up for a webhook.", webhooks,
            \.dead, to: &page)
        page.begin(
            "ledger_webhook_enabled", .gauge,
            "Whether events are sent: 0 when an operator or the receiver (410) ended it.")
        for webhook in webhooks {
            page.sample(
                "ledger_webhook_enabled", labels(webhook), webhook.state == .enabled ? 1 : 0)
        }
        page.begin(
            "ledger_webhook_attempts_total", .counter,
            "Attempts of this process to send an event, by what they ended in.")
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
