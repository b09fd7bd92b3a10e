import Ledger
import LedgerEngine
import Synchronization

/// The forged events already reported, so that repeated reads do not flood the log.
final class ForgeryAlarms: Sendable {
    private struct ForgedEvent: Hashable {
        let tenant: TenantID
        let position: LogPosition
    }

    /// The maximum number of positions kept; beyond it each may be reported once more.
    private static let eventsMax = 1_000

    private let events = Mutex<Set<ForgedEvent>>([])

    /// Returns whether a position has not been reported yet, and records it.
    func isNew(_ damage: LogDamage, of tenant: TenantID) -> Bool {
        events.withLock { events in
            if events.count >= Self.eventsMax { events = [] }
            return events.insert(ForgedEvent(tenant: tenant, position: damage.position)).inserted
        }
    }
}
