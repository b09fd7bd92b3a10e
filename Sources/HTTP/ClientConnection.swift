import Glibc
import Synchronization

/// An open connection, for the lifetime of its socket.
final class ClientConnection: Sendable {
    let descriptor: Int32
    let peerAddress: String
    let gate: RequestFilter
    private let deadline: Atomic<Int64>
    private let awaitsRequest = Atomic(true)
    private let unread = Atomic(false)

    init(
        descriptor: Int32, peerAddress: String, limits: HTTPServerLimits, deadline: MonotonicTime
    ) {
        self.descriptor = descriptor
        self.peerAddress = peerAddress
        gate = RequestFilter(limits: limits)
        self.deadline = Atomic(deadline.nanoseconds)
    }

    /// Sets the deadline for the client's next progress.
    func expectProgress(until time: MonotonicTime) {
        deadline.store(time.nanoseconds, ordering: .relaxed)
    }

    /// Whether the connection ends before everything that the client sends has been read.
    var mayHaveUnreadBytes: Bool {
        get { unread.load(ordering: .relaxed) }
        set { unread.store(newValue, ordering: .relaxed) }
    }

    /// Records a received request line, and the deadline for the rest of the request.
    func beginRequest(dueBy time: MonotonicTime) {
        gate.beginRequest()
        awaitsRequest.store(false, ordering: .relaxed)
        expectProgress(until: time)
    }

    /// Records the end of a request, and the deadline for the next request line.
    func awaitRequest(dueBy time: MonotonicTime) {
        expectProgress(until: time)
        awaitsRequest.store(true, ordering: .relaxed)
    }

    /// The deadline for the next request line; nil while a request is served.
    var requestDeadline: Int64? {
        awaitsRequest.load(ordering: .relaxed) ? deadline.load(ordering: .relaxed) : nil
    }

    func isOverdue(at time: MonotonicTime) -> Bool {
        deadline.load(ordering: .relaxed) < time.nanoseconds
    }

    /// Shuts the connection down so that the daemon sees an end of file; the descriptor must still be open.
    func cut() {
        awaitsRequest.store(false, ordering: .relaxed)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }
}
