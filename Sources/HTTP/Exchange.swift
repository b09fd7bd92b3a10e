import CMicroHTTPD
import Dispatch
import Synchronization

/// One request and its answer, from the request line until the answer is sent.
///
/// What is received, `stage` to `slot`, belongs to the one daemon thread that serves the
/// connection; `headers` are no more written once the exchange has a slot, and anybody may read
/// them then. What that thread shares with others is in `answer`.
///
/// An exchange is also where its handler's task runs: whoever makes the task ready, such as the
/// thread that has committed its command, leaves the job here and wakes the daemon's thread, which
/// does the rest of the work on its way to sending the answer. A pool of threads in between would
/// cost a second wake-up for each request, and as many threads more than processors.
// Protected by the confinement to the daemon's thread, and by the mutex of `answer`.
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
        /// True when the daemon has been told to resume the connection and has not done it yet.
        var isWoken = false
        var task: Task<Void, Never>?
        /// What makes the body while it is sent.
        var stream: HTTPStream?
        /// What the handler's task is to do next; empty once the answer is there.
        var jobs: [UnownedJob] = []

        /// True when the daemon has to be told to resume the connection; it is told once.
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

    var stage = Stage.started
    var method = ""
    var headers = HTTPHeaders()
    var parts: RequestTarget?
    var body: [UInt8] = []
    /// What the body may grow to: what was announced.
    var bodyBytesMax = 0
    /// What the body has taken from `BodyBudget`.
    var budgetedBytes = 0
    /// True when there was no room for the body, and nothing of it is kept.
    var isCrowdedOut = false
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
        answer.withLock { $0.response.take() }
    }

    /// Takes what was received, as the handler sees it; the body lives no longer than its request.
    func takeRequest() -> HTTPRequest? {
        defer { body = [] }
        return parts.map { parts in
            HTTPRequest(
                method: method, target: target, parts: parts, headers: headers,
                body: body, peerAddress: connection.peerAddress)
        }
    }

    /// True while the connection waits for the handler or for more of a stream, or for the daemon to see
    /// that it is resumed.
    var isSuspended: Bool {
        answer.withLock { $0.isSuspended || $0.stream?.isSuspended == true }
    }

    /// Notes what makes the body while it is sent, so that it can be ended.
    func expectEnd(of stream: HTTPStream) {
        answer.withLock { $0.stream = stream }
    }

    /// Ends the stream that the answer's body is, if it is one.
    func endStream(by deadline: MonotonicTime? = nil) {
        answer.withLock(\.stream)?.end(by: deadline)
    }

    /// Notes which task makes the answer, so that it can be cancelled.
    func expectAnswer(of task: Task<Void, Never>) {
        answer.withLock { answer in
            if !answer.isFinished { answer.task = task }
        }
    }

    /// Does what the handler's task can do now; called by the daemon's thread only.
    ///
    /// - Returns: True when the answer is there; false when the connection is suspended, until there
    ///   is more to do.
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

    /// Leaves the answer for the daemon and wakes it; every answer but the first is dropped.
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

    /// Gives up on the handler: cancels its task and answers in its place.
    func abandon(with response: HTTPResponse) {
        answer.withLock(\.task)?.cancel()
        endStream()
        finish(response)
    }

    /// Takes a job of the handler's task.
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

    /// Runs what a task has left to do after its answer, when the connection has gone on.
    private func runElsewhere(_ jobs: [UnownedJob]) {
        guard !jobs.isEmpty else { return }
        DispatchQueue.global().async {
            for job in jobs { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
