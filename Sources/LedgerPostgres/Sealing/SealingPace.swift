/// How long a sealer rests between two looks: so that a commit is signed within 200 ms of its own time.
struct SealingPace: Sendable {
    /// A rest: first one that nothing cuts short, then one until somebody says that there is something.
    struct Rest: Hashable, Sendable {
        var sleep = Duration.zero
        var wait = Duration.zero
    }

    private static let backoffMin = Duration.milliseconds(50)
    private static let backoffMax = Duration.seconds(2)

    private let pause: Duration
    private let poll: Duration
    private var backoff = Duration.zero

    /// Looks at the latest after `poll`, for what other processes append, and after a look that signed
    /// something at the earliest after `pause`; both counted from the beginning of the look.
    ///
    /// As much as a look that signed took longer than `pause` it rests afterwards: with a thousand busy logs
    /// the sealer leaves about half of the time to whoever appends to them, and signs more of each at once.
    init(pause: Duration, poll: Duration) {
        self.pause = pause
        self.poll = poll
    }

    /// The rest after a look that took some time.
    mutating func rest(after round: LogSealing.Round, took: Duration) -> Rest {
        backoff = .zero
        guard !round.hasMore else { return Rest() }
        let sleep = round.publishedCount > 0 ? max(pause - took, took - pause) : .zero
        return Rest(sleep: sleep, wait: max(.zero, poll - took - sleep))
    }

    /// The rest after the database could not be reached: longer each time.
    mutating func restAfterFault() -> Rest {
        backoff = min(max(backoff * 2, Self.backoffMin), Self.backoffMax)
        return Rest(sleep: backoff)
    }
}
