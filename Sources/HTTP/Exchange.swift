import CMicroHTTPD
import Dispatch
import Synchronization

/// A request and its response, from the request line until the response is sent.
///
/// The received data, `stage` to `slot`, belongs to the daemon thread that serves the connection;
/// `headers` are not written once the exchange has a slot, and any thread may then read them. The
/// data shared with other threads is in `answer` and `answered`.
///
/// An exchange is also the executor of its handler's task: a thread that makes the task ready, such as
/// the one that has committed its command, enqueues the job here and wakes the daemon's thread, which
/// runs it and sends the response. A thread pool in between would cost a second wake-up per request and
/// more threads than processors.
// Protected by the confinement to the daemon's thread, by the mutex of `answer`, and by the atomic.
@safe final class Exchange: TaskExecutor, @unchecked Sendable {
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
        /// Whether the daemon was asked to resume the connection and has not done so yet.
        var isWoken = false
        var task: Task<Void, Never>?
        /// The stream that produces the body while it is sent.
        var stream: HTTPStream?
        /// The pending jobs of the handler's task; empty once the response exists.
        var jobs: [UnownedJob] = []

        /// Returns true, once, when the daemon must be asked to resume the connection.
        mutating func mustWake() -> Bool {
            guard isSuspended, !isWoken else { return false }
            isWoken = true
            return true
        }

        mutating func takeJobs() -> [UnownedJob] {
            defer { jobs = [] }
            return jobs
        }
    }

    private enum Next {
        case run([UnownedJob])
        case send
        case wait
    }

    let target: String
    let connection: ClientConnection
    private let handle: OpaquePointer
    private let answer = Mutex(Answer())
    private let answered = Atomic(Int64.max)

    var stage = Stage.started
    var method = ""
    var headers = HTTPHeaders()
    var parts: RequestTarget?
    var body: [UInt8] = []
    /// The announced length of the body.
    var bodyBytesMax = 0
    /// The bytes of `BodyBudget` reserved for the body.
    var budgetedBytes = 0
    /// Whether the body exceeded the budget and was dropped.
    var isOverBudget = false
    /// Whether `ExchangeSlots` counts this request as one whose body is being received.
    var isCounted = false
    var slot: Int?

    init(target: String, connection: ClientConnection, handle: OpaquePointer) {
        self.target = target
        self.connection = connection
        unsafe self.handle = handle
    }

    /// Removes and returns the response, if it exists.
    func takeResponse() -> HTTPResponse? {
        answer.withLock { $0.response.take() }
    }

    /// Removes and returns the request for the handler; the body is released with it.
    func takeRequest() -> HTTPRequest? {
        defer { body = [] }
        return parts.map { parts in
            HTTPRequest(
                method: method, target: target, parts: parts, headers: headers,
                body: body, peerAddress: connection.peerAddress)
        }
    }

    /// Whether the connection waits for the handler, for more of a stream, or for its resumption by the
    /// daemon.
    var isSuspended: Bool {
        answer.withLock { $0.isSuspended || $0.stream?.isSuspended == true }
    }

    /// The time in nanoseconds at which the daemon got the complete response; later than every other time
    /// without one, or once its client has been cut.
    var answeredAt: Int64 { answered.load(ordering: .relaxed) }

    /// Records that the daemon gets the complete response.
    func beginSending() {
        answered.store(MonotonicTime.now.nanoseconds, ordering: .relaxed)
    }

    /// Cuts the client, which reads no response.
    func cut() {
        answered.store(.max, ordering: .relaxed)
        connection.cut()
    }

    /// Records the stream of the body, so that it can be ended.
    func expectEnd(of stream: HTTPStream) {
        answer.withLock { $0.stream = stream }
    }

    /// Ends the stream of the response body, if there is one.
    func endStream() {
        answer.withLock(\.stream)?.end()
    }

    /// Ends the stream of the response body, if there is one, because the server stops.
    func stopStream(by deadline: MonotonicTime) {
        answer.withLock(\.stream)?.stop(by: deadline)
    }

    /// Records the handler's task, so that it can be cancelled.
    func expectAnswer(of task: Task<Void, Never>) {
        answer.withLock { answer in
            if !answer.isFinished { answer.task = task }
        }
    }

    /// Runs the pending jobs of the handler's task; called by the daemon's thread only.
    ///
    /// - Returns: True when the response exists; false when the connection is suspended until the next job.
    func proceed() -> Bool {
        while true {
            let next: Next = answer.withLock { answer in
                answer.isWoken = false
                answer.isSuspended = false
                if answer.isFinished { return .send }
                if !answer.jobs.isEmpty { return .run(answer.takeJobs()) }
                answer.isSuspended = true
                unsafe MHD_suspend_connection(handle)
                return .wait
            }
            switch next {
            case .send: return true
            case .wait: return false
            case .run(let jobs):
                for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            }
        }
    }

    /// Stores the response and wakes the daemon; every response but the first is dropped.
    func finish(_ response: HTTPResponse) {
        let (mustWake, jobs) = answer.withLock { answer -> (Bool, [UnownedJob]) in
            guard !answer.isFinished else { return (false, []) }
            answer.isFinished = true
            answer.response = response
            answer.task = nil
            return (answer.mustWake(), answer.takeJobs())
        }
        // Outside the lock: the daemon's thread may hold its own lock and wait for this one.
        if mustWake { unsafe MHD_resume_connection(handle) }
        runElsewhere(jobs)
    }

    /// Cancels the handler's task and answers in its place.
    func abandon(with response: HTTPResponse) {
        answer.withLock(\.task)?.cancel()
        endStream()
        finish(response)
    }

    /// Separates the handler's task from the connection, which is about to end and runs no more jobs.
    func detach() {
        let jobs = answer.withLock { answer in
            answer.isFinished = true
            answer.response = nil
            answer.task = nil
            return answer.takeJobs()
        }
        runElsewhere(jobs)
    }

    /// Enqueues a job of the handler's task.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isOver, mustWake) = answer.withLock { answer -> (Bool, Bool) in
            guard !answer.isFinished else { return (true, false) }
            answer.jobs.append(job)
            return (false, answer.mustWake())
        }
        if isOver { runElsewhere([job]) }
        if mustWake { unsafe MHD_resume_connection(handle) }
    }

    /// Runs the jobs of a task that outlives its exchange, because the connection no longer runs them.
    private func runElsewhere(_ jobs: [UnownedJob]) {
        guard !jobs.isEmpty else { return }
        DispatchQueue.global().async {
            for job in jobs { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
