import LedgerEngine
import LedgerMessages

/// The metrics of messages.
enum MessageMetrics {
    /// Writes the outcomes of this process.
    static func write(_ outcomes: [MessageCount], to page: inout MetricsText) {
        page.begin(
            "ledger_messages_total", .counter,
            "Messages of this process that were sent, failed or expired, and attempts to repeat.")
        for outcome in outcomes {
            page.sample(
                "ledger_messages_total",
                ["channel": outcome.channel.rawValue, "outcome": outcome.outcome],
                Double(outcome.count))
        }
    }

    /// Writes the unsent messages of all tenants.
    static func write(_ backlog: [MessageBacklog], to page: inout MetricsText) {
        let byChannel = Dictionary(backlog.map { ($0.channel, $0) }) { first, _ in first }
        page.begin("ledger_messages_pending", .gauge, "Messages not sent yet.")
        for channel in MessageChannel.allCases {
            page.sample(
                "ledger_messages_pending", ["channel": channel.rawValue],
                Double(byChannel[channel]?.count ?? 0))
        }
        page.begin(
            "ledger_messages_oldest_seconds", .gauge, "Age of the oldest message not sent yet.")
        for channel in MessageChannel.allCases {
            page.sample(
                "ledger_messages_oldest_seconds", ["channel": channel.rawValue],
                byChannel[channel]?.oldestSeconds ?? 0)
        }
    }
}
