import Synchronization

/// Counts the responses of passkeys whose counters did not go up.
final class PasskeyMetrics: Sendable {
    private let refusals = Mutex<UInt64>(0)

    /// Counts a response.
    func countRefusal() {
        refusals.withLock { $0 += 1 }
    }

    /// Writes the counter.
    func write(to page: inout MetricsText) {
        page.single(
            "ledger_passkey_sign_count_rollbacks_total", .counter,
            "Responses of passkeys whose counters did not go up.",
            Double(refusals.withLock(\.self)))
    }
}
