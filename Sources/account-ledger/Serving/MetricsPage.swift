import Ledger
import LedgerEngine
import LedgerSignIn

/// The page `/metrics` of the admin listener.
struct MetricsPage: Sendable {
    let requests: RequestMetrics
    let codes: AddressCodes
    let counters: PasskeyMetrics
    let workers: Workers

    /// Returns all metrics; without the database only those that are read from it are missing.
    func text() async -> String {
        var page = MetricsText()
        ProcessMetrics.write(to: &page)
        requests.write(to: &page)
        counters.write(to: &page)
        Self.write(workers.sequencer.statistics, to: &page)
        page.single(
            "ledger_projector_alive", .gauge, "Whether the projector's loop is running.",
            workers.projector.isAlive() ? 1 : 0)
        if let sealer = workers.sealer { Self.write(sealer, to: &page) }
        if let statuses = try? await workers.projector.status() {
            Self.write(statuses, to: &page)
        }
        if let webhooks = try? await workers.webhooks.status() {
            WebhookMetrics.write(webhooks, outcomes: workers.webhooks.outcomes, to: &page)
        }
        CodeMetrics.write(codes.refusals, to: &page)
        MessageMetrics.write(workers.messages.outcomes, to: &page)
        if let backlog = try? await workers.messages.backlog() {
            MessageMetrics.write(backlog, to: &page)
        }
        return page.text
    }

    private static func write(_ statistics: SequencerStatistics, to page: inout MetricsText) {
        page.single(
            "ledger_queue_depth", .gauge, "Commands waiting in the queue.",
            Double(statistics.queueDepth))
        page.single(
            "ledger_commands_total", .counter, "Commands answered after a commit.",
            Double(statistics.commands))
        page.single(
            "ledger_commands_failed_total", .counter, "Commands answered with a fault.",
            Double(statistics.failedCommands))
        page.single(
            "ledger_events_total", .counter, "Events appended.", Double(statistics.events))
        page.single(
            "ledger_batches_retried_total", .counter,
            "Batches retried in halves.",
            Double(statistics.batchesSplit))
        page.begin("ledger_batch_size", .summary, "Commands in one transaction.")
        page.sample("ledger_batch_size_sum", Double(statistics.commands))
        page.sample("ledger_batch_size_count", Double(statistics.batches))
        page.begin(
            "ledger_commit_seconds", .histogram, "Time of one transaction, from load to commit.")
        page.samples(
            "ledger_commit_seconds", bounds: SequencerStatistics.commitSecondsBounds,
            counts: statistics.commitCounts.map(UInt64.init), sum: statistics.commitSecondsTotal)
    }

    private static func write(_ sealer: Sealer, to page: inout MetricsText) {
        page.single(
            "ledger_sealer_alive", .gauge, "Whether the sealer's loop is running.",
            sealer.isAlive() ? 1 : 0)
        page.single(
            "ledger_checkpoints_total", .counter, "Checkpoints signed and published.",
            Double(sealer.checkpointCount))
        let statuses = sealer.statuses
        page.begin(
            "ledger_signed_size", .gauge,
            "Events covered by a checkpoint, as known to this process.")
        for status in statuses {
            page.sample("ledger_signed_size", ["tenant": "\(status.tenant)"], Double(status.signed))
        }
        page.begin(
            "ledger_audited_size", .gauge,
            "Events in the last comparison of the log with all checkpoints.")
        for status in statuses where status.isHeld {
            page.sample(
                "ledger_audited_size", ["tenant": "\(status.tenant)"], Double(status.audited ?? 0))
        }
        page.begin(
            "ledger_sealing_refused", .gauge,
            "Whether sealing has stopped because the log contradicts a checkpoint.")
        for status in statuses {
            page.sample(
                "ledger_sealing_refused", ["tenant": "\(status.tenant)"],
                status.refusal == nil ? 0 : 1)
        }
    }

    private static func write(_ statuses: [ProjectionStatus], to page: inout MetricsText) {
        page.begin("ledger_head_position", .gauge, "Events in a tenant's log.")
        var tenants: Set<String> = []
        for status in statuses where tenants.insert("\(status.tenant)").inserted {
            page.sample(
                "ledger_head_position", ["tenant": "\(status.tenant)"], Double(status.head.value))
        }
        page.begin("ledger_projection_lag_events", .gauge, "Events not folded yet.")
        for status in statuses {
            page.sample("ledger_projection_lag_events", of: status, Double(status.lag))
        }
        page.begin(
            "ledger_projection_lag_seconds", .gauge, "Age of the oldest event not folded yet.")
        for status in statuses {
            page.sample("ledger_projection_lag_seconds", of: status, status.secondsBehind)
        }
        page.begin("ledger_projection_failed", .gauge, "Whether a projection has stopped.")
        for status in statuses {
            page.sample("ledger_projection_failed", of: status, status.failure == nil ? 0 : 1)
        }
    }
}

extension MetricsText {
    fileprivate mutating func sample(
        _ name: String, of status: ProjectionStatus, _ value: Double
    ) {
        sample(
            name,
            ["tenant": "\(status.tenant)", "projection": status.name], value)
    }
}
