/// The bounds of repetitions.
public struct RetryPolicy: Sendable {
    /// The maximum number of requests of one call.
    public var attemptsMax: Int
    /// The time of a call with its repetitions, after which none begins.
    public var callTime: Duration
    /// The time after which a request counts as unanswered.
    public var attemptTime: Duration
    /// The same for a refresh: the ledger repeats its answer for ten seconds only.
    public var refreshAttemptTime: Duration
    /// The wait before the first repetition, if the server names none; it doubles each time.
    public var firstWait: Duration
    /// Varies the waits, by a factor that it returns, so that clients do not come back together.
    public var jitter: @Sendable () -> Double

    /// Sets the bounds.
    public init(
        attemptsMax: Int = 4, callTime: Duration = .seconds(30),
        attemptTime: Duration = .seconds(10), refreshAttemptTime: Duration = .seconds(3),
        firstWait: Duration = .milliseconds(200),
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0.5...1.5) }
    ) {
        self.attemptsMax = attemptsMax
        self.callTime = callTime
        self.attemptTime = attemptTime
        self.refreshAttemptTime = refreshAttemptTime
        self.firstWait = firstWait
        self.jitter = jitter
    }

    /// Returns the wait after a number of attempts.
    func wait(after attempts: Int, retryAfter: Duration?) -> Duration {
        retryAfter ?? firstWait * Double(1 << min(attempts - 1, 16)) * jitter()
    }
}
