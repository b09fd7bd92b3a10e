import Glibc
import Synchronization

/// An open connection, as long as its socket is.
final class ClientConnection: Sendable {
    let descriptor: Int32
    let peerAddress: String
    let gate: RequestGate
    private let deadline: Atomic<Int64>
    private let awaitsRequest = Atomic(true)
    private let unread = Atomic(false)

    init(
        descriptor: Int32, peerAddress: String, limits: HTTPServerLimits, deadline: MonotonicTime
    ) {
        self.descriptor = descriptor
        self.peerAddress = peerAddress
        gate = RequestGate(limits: limits)
        self.deadline = Atomic(deadline.nanoseconds)
    }

    /// Sets the time by which the client must have done its part.
    func expectProgress(until time: MonotonicTime) {
        deadline.store(time.nanoseconds, ordering: .relaxed)
    }

    /// Whether it ends before all that the client sends has been read.
    var mayHaveUnread: Bool {
        get { unread.load(ordering: .relaxed) }
        set { unread.store(newValue, ordering: .relaxed) }
    }

    /// Notes that a request line has come, and when the rest of the request must be there.
    func beginRequest(dueBy time: MonotonicTime) {
        gate.beginRequest()
        awaitsRequest.store(false, ordering: .relaxed)
        expectProgress(until: time)
    }

    /// Notes that a request is over, and when the next request line must be there.
    func awaitRequest(dueBy time: MonotonicTime) {
        expectProgress(until: time)
        awaitsRequest.store(true, ordering: .relaxed)
    }

    /// When the next request line must be there; nil while a request is served.
    var requestDeadline: Int64? {
        awaitsRequest.load(ordering: .relaxed) ? deadline.load(ordering: .relaxed) : nil
    }

    func isOverdue(at time: MonotonicTime) -> Bool {
        deadline.load(ordering: .relaxed) < time.nanoseconds
    }

    /// Makes the daemon see an end of file; the descriptor must still be open.
    func cut() {
        awaitsRequest.store(false, ordering: .relaxed)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
