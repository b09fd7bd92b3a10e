package import Ledger

/// The configuration of a projector.
package struct ProjectorConfiguration: Sendable {
    /// The maximum number of events in one page, and so in one transaction.
    package var batch = 4_000
    /// The time after which a round starts without a wake-up, for events that other processes append.
    package var poll = Duration.milliseconds(100)
    /// The time between two looks over all tenants, if rounds in between fold the tenants that this process names;
    /// zero for a look in every round, which is cheap on one node.
    package var search = Duration.zero
    /// The minimum time between two rounds while no request waits: under load, commits gather into one page,
    /// which costs little more than a page of one event.
    package var pause = Duration.milliseconds(20)
    /// The pause for `conflicts`, which no request waits for; shorter than what ``RecentEvents`` covers.
    package var conflictsPause = Duration.milliseconds(200)
    /// The minimum time between two rounds while a request waits.
    package var urgentPause = Duration.milliseconds(2)

    /// Creates a configuration with the default limits.
    package init() {}
}

/// A checkpoint that has moved.
package struct ProjectionAdvance: Hashable, Sendable {
    package let tenant: TenantID
    package let projection: ProjectionName
    package let table: ProjectionTable
    /// The next position that the projection folds.
    package let position: LogPosition
}

/// A tenant's events from a position on, which a projector has to fold.
package struct NewEvents: Hashable, Sendable {
    package let tenant: TenantID
    package let from: LogPosition

    /// Names a tenant with new events.
    package init(tenant: TenantID, from: LogPosition) {
        self.tenant = tenant
        self.from = from
    }
}
