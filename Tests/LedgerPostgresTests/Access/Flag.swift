import Synchronization

/// Something that has happened, or has not yet.
final class Flag: Sendable {
    private let value = Atomic(false)

    var isRaised: Bool { value.load(ordering: .sequentiallyConsistent) }

    func raise() {
        value.store(true, ordering: .sequentiallyConsistent)
    }
}
