import Ledger

/// Where the table that goes out and the one that comes in stand for one tenant.
///
/// What comes in has to be at least as far and as whole as what goes out: where the old table has
/// stopped, a new one that has not, or that has stopped there or later, is no worse.
struct TablePlace: Sendable {
    let tenant: TenantID
    let old: LogPosition
    /// Why the old table has stopped, if it has.
    let oldFailure: String?
    let new: LogPosition
    /// Why the new table has stopped, if it has.
    let newFailure: String?

    /// What keeps a tenant's new table from being shown.
    struct Lag: Sendable {
        let tenant: TenantID
        let reason: String
        /// Whether no waiting mends it.
        let isFinal: Bool
    }

    /// Whether readers lose nothing when the new table is shown.
    var isFit: Bool { new >= old && (newFailure == nil || oldFailure != nil) }

    /// Whether the tables have to hold the same rows now.
    ///
    /// One that has stopped is compared with one that has stopped, so that it does not depend on the moment
    /// whether it is.
    var isComparable: Bool { new == old && (newFailure == nil) == (oldFailure == nil) }

    /// Whether the old table has stopped, and the new one gone past it.
    var isPastComparison: Bool { oldFailure != nil && new > old }

    /// What keeps the new table from being shown soon; nil when nothing does but at most a page of events.
    var lag: Lag? {
        if let newFailure, !isFit {
            // What the old table makes of the same event is still to be seen, unless it is past it.
            return Lag(
                tenant: tenant, reason: "it has stopped at \(newFailure)", isFinal: new < old)
        }
        guard old.value - new.value > Int64(LogPage.eventsMax) else { return nil }
        return Lag(tenant: tenant, reason: "\(new) against \(old)", isFinal: false)
    }
}
