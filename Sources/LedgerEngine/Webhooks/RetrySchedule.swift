import Ledger

/// The schedule by which an undelivered event is sent again.
package struct RetrySchedule: Sendable {
    /// The pauses in seconds after the first attempt, the second and so on; after the last the event is given
    /// up.
    package var delays: [Int64]
    /// The factor of a pause, random so that retries do not coincide.
    package var jitter: @Sendable () -> Double
    /// The maximum factor of the default plan.
    package static let jitterMax = 1.1
    /// The statuses with which a receiver can ask for a pause of all its requests.
    static let pausing: Set<Int> = [429, 503]
    /// The maximum pause that a receiver can ask for, in seconds.
    package static let retryAfterMax: Int64 = 3_600

    /// Two days: 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 6 h, 12 h and 24 h.
    package static let defaultDelays: [Int64] = [
        5, 30, 120, 600, 3_600, 10_800, 21_600, 43_200, 86_400,
    ]

    /// The longest pause between two attempts, including jitter and the receiver's request.
    var pauseMax: Duration {
        .seconds(max((delays.max() ?? 0) * 2, Self.retryAfterMax))
    }

    /// Creates a plan; `jitter` returns a factor below 2.
    package init(
        delays: [Int64] = defaultDelays,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0.9...jitterMax) }
    ) {
        self.delays = delays
        self.jitter = jitter
    }

    /// Returns the time of the next attempt.
    ///
    /// - Parameters:
    ///   - attempts: The number of attempts so far.
    ///   - now: The end of the last attempt.
    ///   - asked: The seconds that the receiver asked for.
    /// - Returns: The time, or nil when the event is given up.
    func next(after attempts: Int, at now: Timestamp, asked: Int64?) -> Timestamp? {
        guard delays.indices.contains(attempts - 1) else { return nil }
        let delay = Int64(Double(delays[attempts - 1]) * jitter() * 1_000_000)
        let wanted = min(max(0, asked ?? 0), Self.retryAfterMax) * 1_000_000
        return Timestamp(microseconds: now.microseconds + max(delay, wanted))
    }

    /// Returns the end of the pause that the receiver asked for at the last attempt of a pending event.
    ///
    /// It is known by an event whose next attempt is later than the plan has it, and nil for any other one.
    func pauseEnd(after item: DeliveryQueue.Item) -> Timestamp? {
        guard let refusedAt = item.refusedAt, delays.indices.contains(item.attempts - 1),
            item.next.microseconds - refusedAt.microseconds
                > Int64(Double(delays[item.attempts - 1]) * Self.jitterMax * 1_000_000)
        else { return nil }
        return min(item.next, refusedAt.adding(seconds: Self.retryAfterMax))
    }
}
