import Synchronization

/// A flag for an event that may have happened.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .sequentiallyConsistent) }

    func raise() {
        value.store(true, ordering: .sequentiallyConsistent)
    }
}
