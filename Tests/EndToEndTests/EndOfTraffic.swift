import Synchronization

/// A flag that stops the clients running beside a test.
///
/// Their tasks are never cancelled: a cancellation that meets the end of a transfer waits for
/// `URLSession`'s queue, which waits for the task's lock, and every test waits for both.
final class EndOfTraffic: Sendable {
    private let value = Atomic(false)

    var isHere: Bool { value.load(ordering: .sequentiallyConsistent) }

    func tell() {
        value.store(true, ordering: .sequentiallyConsistent)
    }
}
