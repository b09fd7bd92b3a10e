/// The rest of a sealer between two passes, such that a commit is signed within 200 ms of its own time.
struct SealingPace: Sendable {
    /// A rest: an uninterruptible part, then one that a wake-up ends.
    struct Rest: Hashable, Sendable {
        var sleep = Duration.zero
        var wait = Duration.zero
    }

    private static let backoffMin = Duration.milliseconds(50)
    private static let backoffMax = Duration.seconds(2)

    private let pause: Duration
    private let poll: Duration
    private var backoff = Duration.zero

    /// Starts a pass at most `poll` after the last one for events of other processes, and at least `pause`
    /// after one that signed; both count from its beginning.
    ///
    /// When a pass that signed took longer than `pause`, the rest is longer by the excess: with a thousand
    /// busy logs the sealer leaves about half of the time to the writers, and signs more of each log at once.
    init(pause: Duration, poll: Duration) {
        self.pause = pause
        self.poll = poll
    }

    /// Returns the rest after a pass and its duration.
    mutating func rest(after round: LogSealing.Round, took: Duration) -> Rest {
        backoff = .zero
        guard !round.hasMore else { return Rest() }
        let sleep = round.publishedCount > 0 ? max(pause - took, took - pause) : .zero
        return Rest(sleep: sleep, wait: max(.zero, poll - took - sleep))
    }

    /// Returns the rest after the database could not be reached, longer each time.
    mutating func restAfterFault() -> Rest {
        backoff = min(max(backoff * 2, Self.backoffMin), Self.backoffMax)
        return Rest(sleep: backoff)
    }
}
