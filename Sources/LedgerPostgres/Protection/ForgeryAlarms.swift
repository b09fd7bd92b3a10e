import Ledger
import Synchronization

/// Which forged events an alarm was raised for: whoever asks again and again is not to fill the log.
final class ForgeryAlarms: Sendable {
    private struct Place: Hashable {
        let tenant: TenantID
        let position: LogPosition
    }

    /// The most places that are remembered; then each may be told once more.
    private static let placesMax = 1_000

    private let places = Mutex<Set<Place>>([])

    /// Whether nobody was told of a place yet.
    func isNew(_ damage: LogDamage, of tenant: TenantID) -> Bool {
        places.withLock { places in
            if places.count >= Self.placesMax { places = [] }
            return places.insert(Place(tenant: tenant, position: damage.position)).inserted
        }
    }
}
