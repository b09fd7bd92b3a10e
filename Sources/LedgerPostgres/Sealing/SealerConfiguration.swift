/// What a sealer needs to know.
package struct SealerConfiguration: Sendable {
    /// The URL of a login that may seal.
    package var url: String
    /// How much is taken at a time.
    package var limits = SealingLimits()
    /// The time from one look to the next when nothing wakes it, for what other processes append.
    package var poll = Duration.milliseconds(100)
    /// The least time from a look that signed something to the next: under load, commits gather into one
    /// checkpoint.
    package var pause = Duration.milliseconds(100)
    /// How long a log that is not signed further is left alone before it is looked at again.
    package var refusalPause = Duration.seconds(5)
    /// How long a log may have something to sign, and nothing of it be signed, before that is trouble.
    package var behindMax = Duration.seconds(30)
    /// The least time between two looks at what other processes have written down.
    package var recordLook = Duration.seconds(3)
    /// The least time between two pages of the audit.
    package var auditPause = Duration.milliseconds(250)
    /// How long the audit rests after it has gone through all logs.
    package var auditRest = Duration.seconds(60)

    /// Describes a sealer with the usual limits.
    package init(url: String) {
        self.url = url
    }
}
