/// A streak of failed batches, which shows whether a reachable database executes no commands.
///
/// A failure followed by a commit, or by no batch, means little: a connection was lost. Clients
/// stop sending to a server that reports itself not ready, so an old failure means nothing either.
struct FailureStreak: Sendable {
    /// The minimum duration of uninterrupted failures before they count.
    private static let least = Duration.seconds(1)
    /// The time for which the last failure counts: until the next batch can have failed, which may take 6 s.
    private static let memory = Duration.seconds(7)

    /// The beginning of the first failed batch.
    private var first: ContinuousClock.Instant?
    /// The end of the last one.
    private var last: ContinuousClock.Instant?

    /// Records a committed batch.
    mutating func end() {
        first = nil
        last = nil
    }

    /// Records a batch that failed for a reason other than one of its commands.
    mutating func add(since start: ContinuousClock.Instant, at moment: ContinuousClock.Instant) {
        first = first ?? start
        last = moment
    }

    /// Whether new commands are likely to fail.
    func isLasting(at moment: ContinuousClock.Instant) -> Bool {
        guard let first, let last else { return false }
        return last - first >= Self.least && moment - last <= Self.memory
    }
}
