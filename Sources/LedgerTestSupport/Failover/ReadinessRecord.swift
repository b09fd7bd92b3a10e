/// The answers of a server's `/readyz`, compared with its commands.
package struct ReadinessRecord: Sendable {
    /// The longest time for which a server may be ready although it acknowledges no command: 6 s until a batch
    /// fails, a second for which an answer is kept, and the delays of a busy machine.
    package static let silenceMax = Duration.seconds(10)
    /// The time for which it may be ready again before a command is acknowledged.
    package static let resumptionMax = Duration.seconds(3)

    /// The beginning of the current series of 200; nil while the answer is 503.
    private var readySince: ContinuousClock.Instant?

    /// Makes a record without answers.
    package init() {}

    /// Whether the last answer was 200.
    package var isReady: Bool { readySince != nil }

    /// Notes an answer, and returns whether it is wrong: ready, while no command is acknowledged.
    ///
    /// `silence` is the time since the last acknowledged command.
    package mutating func note(
        isReady: Bool, at now: ContinuousClock.Instant, silence: Duration
    ) -> Bool {
        guard isReady else {
            readySince = nil
            return false
        }
        let since = readySince ?? now
        readySince = since
        return silence > Self.silenceMax && now - since > Self.resumptionMax
    }
}
