/// Whether a database that is there carries out no commands, judged by the last batches.
///
/// A failure that was followed by a commit, or by nothing, says little: a connection was lost. And who is
/// told that a server is not ready sends it nothing more, so that an old failure says nothing any more.
struct FailureStreak: Sendable {
    /// How long nothing but failures have to come before they count.
    private static let least = Duration.seconds(1)
    /// How long the last failure counts.
    private static let memory = Duration.seconds(5)

    private var first: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    /// A batch was committed.
    mutating func end() {
        first = nil
        last = nil
    }

    /// A batch failed, and not for a command in it.
    mutating func add(at moment: ContinuousClock.Instant) {
        first = first ?? moment
        last = moment
    }

    /// Whether commands that come now will hardly be carried out.
    func isLasting(at moment: ContinuousClock.Instant) -> Bool {
        guard let first, let last else { return false }
        return last - first >= Self.least && moment - last <= Self.memory
    }
}
