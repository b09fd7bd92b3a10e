/// The configuration of a sealer.
package struct SealerConfiguration: Sendable {
    /// The limits of one pass.
    package var limits = SealingLimits()
    /// The time between two passes without a wake-up, for events that other processes append.
    package var poll = Duration.milliseconds(100)
    /// The minimum time from a pass that signed something to the next: under load, commits gather into one
    /// checkpoint.
    package var pause = Duration.milliseconds(100)
    /// The time after which a refused log is tried again.
    package var refusalPause = Duration.seconds(5)
    /// The maximum time for which a log may have unsigned events before the sealer counts as stuck.
    package var behindMax = Duration.seconds(30)
    /// The minimum time between two reads of the records of other processes.
    package var recordInterval = Duration.seconds(3)
    /// The minimum time between two pages of the audit.
    package var auditPause = Duration.milliseconds(250)
    /// The rest of the audit after all logs.
    package var auditRest = Duration.seconds(60)

    /// Creates a configuration with the default limits.
    package init() {}
}
