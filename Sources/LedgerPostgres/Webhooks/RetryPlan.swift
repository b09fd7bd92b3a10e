import Ledger

/// When an event that was not taken is sent again.
package struct RetryPlan: Sendable {
    /// The pauses in seconds after the first attempt, the second and so on; then the event is given up.
    package var delays: [Int64]
    /// By what a pause is multiplied, so that not everything comes again at one moment.
    package var jitter: @Sendable () -> Double
    /// The longest pause that a receiver is given when it asks for one, in seconds.
    package static let askedMax: Int64 = 3_600

    /// Two days: 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h and 24 h.
    package static let usualDelays: [Int64] = [
        5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400,
    ]

    /// The longest pause between two attempts, whatever chance and the receiver say.
    var pauseMax: Duration {
        .seconds(max((delays.max() ?? 0) * 2, Self.askedMax))
    }

    /// Describes a plan; `jitter` gives less than 2.
    package init(
        delays: [Int64] = usualDelays,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0.9...1.1) }
    ) {
        self.delays = delays
        self.jitter = jitter
    }

    /// When to send again after so many attempts.
    ///
    /// - Parameters:
    ///   - attempts: How many there were, the last one included.
    ///   - now: When the last one ended.
    ///   - asked: The seconds that the receiver asked for.
    /// - Returns: That time; nil when the event is given up.
    func next(after attempts: Int, at now: Timestamp, asked: Int64?) -> Timestamp? {
        guard delays.indices.contains(attempts - 1) else { return nil }
        let delay = Int64(Double(delays[attempts - 1]) * jitter() * 1_000_000)
        let wanted = min(max(0, asked ?? 0), Self.askedMax) * 1_000_000
        return Timestamp(microseconds: now.microseconds + max(delay, wanted))
    }
}
