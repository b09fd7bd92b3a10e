/// The delay before an unreachable server is tried again: doubles with each failure, up to a limit.
struct Backoff {
    static let first = Duration.milliseconds(50)
    static let longest = Duration.seconds(2)

    private var next = Self.first
    private var resumesAt: ContinuousClock.Instant?
    private(set) var reason: PostgresError?

    /// Checks whether the server may be tried at this moment.
    func permits(_ now: ContinuousClock.Instant) -> Bool {
        guard let resumesAt else { return true }
        return now >= resumesAt
    }

    /// Records a failure at this moment.
    mutating func failed(_ reason: PostgresError, at now: ContinuousClock.Instant) {
        self.reason = reason
        resumesAt = now + next
        next = min(next * 2, Self.longest)
    }

    /// Forgets all failures.
    mutating func succeeded() {
        self = Self()
    }
}
