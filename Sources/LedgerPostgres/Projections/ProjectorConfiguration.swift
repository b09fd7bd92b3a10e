package import Ledger

/// What a projector needs to know.
package struct ProjectorConfiguration: Sendable {
    /// The runtime role's URL.
    package var url: String
    /// Events in one page, and so in one transaction, at the most.
    package var batch = 4_000
    /// How long to wait for a wake-up before looking by itself, for what other processes append.
    package var poll = Duration.milliseconds(100)
    /// The least time between two looks while nobody waits: under load, commits gather into one
    /// page, which costs little more than a page of one event.
    package var pause = Duration.milliseconds(20)
    /// The same for `conflicts`, which no request waits for; well within what ``RecentEvents`` keeps.
    package var conflictsPause = Duration.milliseconds(200)
    /// The least time between two looks while somebody waits for what is not folded yet.
    package var hurriedPause = Duration.milliseconds(2)

    /// Describes a projector with the usual limits.
    package init(url: String) {
        self.url = url
    }
}

/// A checkpoint that has moved.
package struct ProjectionAdvance: Hashable, Sendable {
    package let tenant: TenantID
    package let projection: ProjectionName
    package let table: ProjectionTable
    /// The next position that the projection folds.
    package let position: LogPosition
}
