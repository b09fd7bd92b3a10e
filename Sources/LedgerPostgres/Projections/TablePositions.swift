import Ledger
import LedgerEngine

/// The positions of the outgoing and the incoming table for one tenant.
///
/// The incoming table has to be at least as far and as complete as the outgoing one: where the old table has
/// stopped, a new one that has not, or that has stopped there or later, is no worse.
struct TablePositions: Sendable {
    let tenant: TenantID
    let old: LogPosition
    /// Why the old table has stopped, if it has.
    let oldFailure: String?
    let new: LogPosition
    /// Why the new table has stopped, if it has.
    let newFailure: String?

    /// The reason why a tenant's new table cannot be served yet.
    struct Lag: Sendable {
        let tenant: TenantID
        let reason: String
        /// Whether waiting cannot resolve it.
        let isPermanent: Bool
    }

    /// Whether readers lose nothing when the new table is served.
    var canReplace: Bool { new >= old && (newFailure == nil || oldFailure != nil) }

    /// Whether the tables must now hold the same rows.
    ///
    /// Two stopped tables are compared with each other only, so that timing does not decide whether they are.
    var isComparable: Bool { new == old && (newFailure == nil) == (oldFailure == nil) }

    /// Whether the old table has stopped and the new one is beyond it.
    var skipsComparison: Bool { oldFailure != nil && new > old }

    /// The reason why the new table cannot be served soon; nil when it is at most a page behind.
    var lag: Lag? {
        if let newFailure, !canReplace {
            // The old table may still stop at the same event, unless it is already beyond it.
            return Lag(
                tenant: tenant, reason: "it has stopped at \(newFailure)", isPermanent: new < old)
        }
        guard old.value - new.value > Int64(LogPage.eventsMax) else { return nil }
        return Lag(
            tenant: tenant, reason: "at \(new), the other table at \(old)", isPermanent: false)
    }
}
