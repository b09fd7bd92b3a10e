package import Ledger
package import LedgerMessages

/// The configuration of a message dispatcher.
package struct MessageDispatcherConfiguration: Sendable {
    /// The transport of each channel; messages of other channels wait for another process.
    package var transports: [MessageChannel: any MessageTransport]
    /// Returns the configuration of a tenant's messages, for their texts.
    package var settings: @Sendable (TenantID) -> MessageSettings
    /// Returns the display name of a tenant's provider.
    package var provider: @Sendable (TenantID, ProviderName) -> String = { $1.description }
    /// Returns the link to a tenant's account page; nil when its address is not configured.
    package var accountPage: @Sendable (TenantID) -> String? = { _ in nil }
    /// Whether a tenant sends messages of a channel to a recipient.
    package var maySend: @Sendable (TenantID, MessageChannel, String) -> Bool = { _, _, _ in true }
    /// The pauses in seconds after the first attempt, the second and so on; the last one repeats until the
    /// message expires.
    var delays: [Int64] = [2, 5, 15, 30, 60, 120, 300]
    /// The factor of a pause, random so that retries do not coincide.
    var jitter: @Sendable () -> Double = { Double.random(in: 0.9...1.1) }
    /// The maximum number of concurrent attempts of a channel.
    package var inFlightMax = 16
    /// The seconds after which a lease lapses: more than the longest attempt.
    package var leaseSeconds: Int32 = 60
    /// The time after which the outbox is read without a wake-up.
    package var poll = Duration.seconds(1)
    /// The pause between searches for expired messages.
    package var expiry = Duration.seconds(5)
    /// The maximum wait for attempts under way when the dispatcher stops.
    package var drainLimit = Duration.seconds(2)
    /// The pause before an outcome is written again that could not be written.
    var writePause = Duration.milliseconds(500)

    /// Creates a configuration with the default limits.
    package init(
        transports: [MessageChannel: any MessageTransport],
        settings: @escaping @Sendable (TenantID) -> MessageSettings
    ) {
        self.transports = transports
        self.settings = settings
    }

    /// Returns the pause after an attempt in microseconds.
    func pause(after attempts: Int, asked: Int64?) -> Int64 {
        let index = min(max(attempts, 1), delays.count) - 1
        let seconds = delays.indices.contains(index) ? delays[index] : 0
        let wanted = min(max(0, asked ?? 0), RetrySchedule.retryAfterMax) * 1_000_000
        return max(Int64(Double(seconds) * jitter() * 1_000_000), wanted)
    }
}
