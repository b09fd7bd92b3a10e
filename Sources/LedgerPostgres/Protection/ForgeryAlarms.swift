import Ledger
import Synchronization

/// The forged events already reported, so that repeated reads do not flood the log.
final class ForgeryAlarms: Sendable {
    private struct Place: Hashable {
        let tenant: TenantID
        let position: LogPosition
    }

    /// The maximum number of positions kept; beyond it each may be reported once more.
    private static let placesMax = 1_000

    private let places = Mutex<Set<Place>>([])

    /// Returns whether a position has not been reported yet, and records it.
    func isNew(_ damage: LogDamage, of tenant: TenantID) -> Bool {
        places.withLock { places in
            if places.count >= Self.placesMax { places = [] }
            return places.insert(Place(tenant: tenant, position: damage.position)).inserted
        }
    }
}
