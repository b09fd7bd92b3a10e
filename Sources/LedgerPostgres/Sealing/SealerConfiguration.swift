/// What a sealer needs to know.
package struct SealerConfiguration: Sendable {
    /// The URL of a login that may seal.
    package var url: String
    /// How much is taken at a time.
    package var limits = SealingLimits()
    /// How long to wait for a wake-up before looking by itself, for what other processes append.
    package var poll = Duration.milliseconds(100)
    /// The least time between two looks: under load, commits gather into one checkpoint.
    package var pause = Duration.milliseconds(100)
    /// How long a log that is not signed further is left alone before it is looked at again.
    package var refusalPause = Duration.seconds(5)
    /// The least time between two pages of the audit.
    package var auditPause = Duration.milliseconds(250)
    /// How long the audit rests after it has gone through all logs.
    package var auditRest = Duration.seconds(60)

    /// Describes a sealer with the usual limits.
    package init(url: String) {
        self.url = url
    }
}
