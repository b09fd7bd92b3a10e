import Glibc
import Synchronization

/// An open connection, as long as its socket is.
final class ClientConnection: Sendable {
    let descriptor: Int32
    let peerAddress: String
    private let deadline: Atomic<Int64>

    init(descriptor: Int32, peerAddress: String, deadline: MonotonicTime) {
        self.descriptor = descriptor
        self.peerAddress = peerAddress
        self.deadline = Atomic(deadline.nanoseconds)
    }

    /// Sets the time by which the client must have done its part.
    func expectProgress(until time: MonotonicTime) {
        deadline.store(time.nanoseconds, ordering: .relaxed)
    }

    func isOverdue(at time: MonotonicTime) -> Bool {
        deadline.load(ordering: .relaxed) < time.nanoseconds
    }

    /// Makes the daemon see an end of file; the descriptor must still be open.
    func cut() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
