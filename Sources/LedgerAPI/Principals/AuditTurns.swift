internal import Synchronization

/// How many requests of principals are worked on at once, or how many streams are open.
///
/// Their reads are slow and have few connections. Each request that waited for one would hold a place
/// among all requests, until none were left for people who sign in; so what is too much is refused.
package final class AuditTurns: Sendable {
    private let limit: Int
    private let taken = Mutex(0)

    /// Allows so many at once.
    package init(limit: Int = 16) {
        self.limit = limit
    }

    /// Takes a turn; false when there is none left.
    func take() -> Bool {
        taken.withLock { taken in
            guard taken < limit else { return false }
            taken += 1
            return true
        }
    }

    /// Gives a turn back that was taken.
    func giveBack() {
        taken.withLock { $0 -= 1 }
    }
}
