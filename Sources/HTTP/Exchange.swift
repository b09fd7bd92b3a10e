import CMicroHTTPD
import Synchronization

/// One request and its answer, from the request line until the answer is sent.
///
/// What is received, `stage` to `slot`, belongs to the one daemon thread that serves the
/// connection; `headers` are no more written once the exchange has a slot, and anybody may read
/// them then. What that thread shares with the handler's task is in `answer`.
// Protected by the confinement to the daemon's thread, and by the mutex of `answer`.
@safe final class Exchange: @unchecked Sendable {
    enum Stage {
        case started
        case receivingBody
        case handling
        case answered
    }

    private struct Answer {
        var response: HTTPResponse?
        var isFinished = false
        var isSuspended = false
        var task: Task<Void, Never>?
    }

    let target: String
    let connection: ClientConnection
    private let handle: OpaquePointer
    private let answer = Mutex(Answer())

    var stage = Stage.started
    var method = ""
    var headers = HTTPHeaders()
    var parts: RequestTarget?
    var body: [UInt8] = []
    var discardedBytes = 0
    /// True when `ExchangeSlots` counts this as a request whose body is on its way.
    var isCounted = false
    var slot: Int?

    init(target: String, connection: ClientConnection, handle: OpaquePointer) {
        self.target = target
        self.connection = connection
        unsafe self.handle = handle
    }

    /// Takes the answer, if it is there.
    func takeResponse() -> HTTPResponse? {
        answer.withLock { answer in
            answer.isSuspended = false
            return answer.response.take()
        }
    }

    /// What was received, as the handler sees it.
    func request() -> HTTPRequest? {
        parts.map { parts in
            HTTPRequest(
                method: method, target: target, parts: parts, headers: headers,
                body: body, peerAddress: connection.peerAddress)
        }
    }

    /// True while the connection waits for the handler, or for the daemon to see that it is
    /// resumed.
    var isSuspended: Bool { answer.withLock { $0.isSuspended } }

    /// Suspends the connection, unless the answer came already.
    ///
    /// - Returns: True when the connection is suspended; `finish` will resume it.
    func suspend(until task: Task<Void, Never>) -> Bool {
        answer.withLock { answer in
            guard !answer.isFinished else { return false }
            answer.isSuspended = true
            answer.task = task
            unsafe MHD_suspend_connection(handle)
            return true
        }
    }

    /// Leaves the answer for the daemon and wakes it; every answer but the first is dropped.
    func finish(_ response: HTTPResponse) {
        let mustResume = answer.withLock { answer in
            guard !answer.isFinished else { return false }
            answer.isFinished = true
            answer.response = response
            answer.task = nil
            return answer.isSuspended
        }
        // Outside the lock: the daemon's thread may hold its own lock and wait for this one.
        if mustResume { unsafe MHD_resume_connection(handle) }
    }

    /// Gives up on the handler: cancels its task and answers in its place.
    func abandon(with response: HTTPResponse) {
        answer.withLock(\.task)?.cancel()
        finish(response)
    }
}
