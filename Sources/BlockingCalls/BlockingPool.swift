internal import Foundation
internal import Glibc
internal import Synchronization

/// A fixed number of threads and a bounded number of callers, for computations that take long.
///
/// A caller is admitted before it does anything else, so that a refusal costs nothing and tells nothing.
/// The pool has no queue beyond what it admits, and each client has a share of it, so that none can fill it. The
/// threads have a low priority: as many as there are processors leave other work its share of them. Another
/// thread resumes the callers, because one of a low priority may be preempted while it holds a lock that
/// callers wait for, and would pass its priority on to threads that it starts.
package final class BlockingPool: Sendable {
    /// The refusal of a caller, because as many as may be are admitted already.
    package struct Full: Error, Hashable {}

    /// A client that callers act for.
    package struct Client: Hashable, Sendable {
        private let name: String
        /// Whether it may use the places that are kept from strangers.
        fileprivate let isKnown: Bool

        /// Names a client; a known one has no share in common with a stranger of the same name.
        package init(_ name: String, isKnown: Bool = false) {
            self.name = name
            self.isKnown = isKnown
        }
    }

    /// The callers that are admitted.
    fileprivate struct Admitted {
        var count = 0
        var strangers = 0
        var ofClients: [Client: Int] = [:]
    }

    /// The nice value of the threads, of 0 to 19.
    private static let nice: Int32 = 15

    /// The number of waiting bodies for each result that the threads keep to hand it over with others.
    ///
    /// Their callers' next steps then share transactions, and the delay is at most a quarter of the wait.
    private static let waitingPerResult = 4

    /// Runs a body, and returns a closure that resumes its caller.
    private typealias Job = @Sendable () -> Resumption
    private typealias Resumption = @Sendable () -> Void

    private let jobs = WaitingList<Job>()
    private let resumptions = WaitingList<[Resumption]>()
    private let admittedMax: Int
    private let admittedMaxPerClient: Int
    private let strangersMax: Int
    private let admitted = Mutex(Admitted())

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - label: Appears in debuggers.
    ///   - threads: The number of bodies that run at a time.
    ///   - waitingMax: The number of callers that may wait beside them.
    ///   - waitingMaxPerClient: The number of them that may act for one client; nil for all.
    ///   - keptForKnown: The number of waiting places that only known clients may take.
    package init(
        label: String, threads: Int, waitingMax: Int, waitingMaxPerClient: Int? = nil,
        keptForKnown: Int = 0
    ) {
        precondition(threads > 0 && waitingMax >= keptForKnown, "a pool needs a thread")
        admittedMax = threads + waitingMax
        admittedMaxPerClient = threads + (waitingMaxPerClient ?? waitingMax)
        strangersMax = admittedMax - keptForKnown
        let waitingPerResult = Self.waitingPerResult * threads
        for _ in 0..<threads {
            Self.start(label) { [jobs, resumptions] in
                // Fails only where the platform forbids it, and then the threads are as others.
                _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.nice)
                Self.runAll(jobs, addingTo: resumptions, keepingOneOf: waitingPerResult)
            }
        }
        Self.start("\(label): results") { [resumptions] in
            while let group = resumptions.next() {
                for resume in group { resume() }
            }
        }
    }

    private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    /// Runs bodies in the order of their arrival until the end.
    private static func runAll(
        _ jobs: WaitingList<Job>, addingTo resumptions: WaitingList<[Resumption]>,
        keepingOneOf waitingPerResult: Int
    ) {
        var results: [Resumption] = []
        while true {
            var job = results.count < jobs.count / waitingPerResult ? jobs.nextIfAny() : nil
            if job == nil {
                if !results.isEmpty { resumptions.add(results) }
                results = []
                job = jobs.next()
            }
            guard let job else { return }
            results.append(job())
        }
    }

    deinit {
        // Every body has run, because its admission holds the pool.
        jobs.end()
        resumptions.end()
    }

    /// The right to run one body; it ends with its last use.
    package struct Admission: ~Copyable, Sendable {
        private let pool: BlockingPool
        private let client: Client?

        fileprivate init(to pool: BlockingPool, for client: Client?) {
            self.pool = pool
            self.client = client
        }

        deinit {
            pool.admitted.withLock { $0.change(client, by: -1) }
        }

        /// Runs a body after those of earlier callers have begun.
        ///
        /// - Returns: The result of the body.
        /// - Throws: The error of the body.
        package consuming func run<Value: Sendable, Failure: Error>(
            _ body: @escaping @Sendable () throws(Failure) -> Value
        ) async throws(Failure) -> Value {
            let result = await withCheckedContinuation { continuation in
                pool.jobs.add {
                    let result = Result(catching: body)
                    return { continuation.resume(returning: result) }
                }
            }
            return try result.get()
        }
    }

    /// Admits a caller.
    ///
    /// - Parameter client: The client that it acts for; nil for the process itself, which has no share.
    /// - Returns: The right to run one body.
    /// - Throws: `Full`, also when the share of the client or of strangers is used up.
    package func admit(for client: Client? = nil) throws(Full) -> Admission {
        let isAdmitted = admitted.withLock { admitted in
            guard admitted.count < admittedMax else { return false }
            if let client {
                guard admitted.ofClients[client, default: 0] < admittedMaxPerClient,
                    client.isKnown || admitted.strangers < strangersMax
                else { return false }
            }
            admitted.change(client, by: 1)
            return true
        }
        guard isAdmitted else { throw Full() }
        return Admission(to: self, for: client)
    }

    /// The number of bodies that no thread has begun.
    var waitingCount: Int { jobs.count }

    /// The number of callers that are admitted.
    package var admittedCount: Int { admitted.withLock(\.count) }
}

extension BlockingPool.Admitted {
    fileprivate mutating func change(_ client: BlockingPool.Client?, by number: Int) {
        count += number
        guard let client else { return }
        if !client.isKnown { strangers += number }
        let changed = ofClients[client, default: 0] + number
        ofClients[client] = changed == 0 ? nil : changed
    }
}

/// The elements that threads take in the order of their arrival.
private final class WaitingList<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    /// Counts the elements; one more ends the threads.
    private let changes = DispatchSemaphore(value: 0)

    var count: Int { elements.withLock(\.count) }

    func add(_ element: Element) {
        elements.withLock { $0.append(element) }
        changes.signal()
    }

    /// Ends the threads after the last element.
    func end() {
        changes.signal()
    }

    /// Waits for an element; returns nil after the end.
    func next() -> Element? {
        changes.wait()
        return take()
    }

    /// Returns nil when no element waits.
    func nextIfAny() -> Element? {
        changes.wait(timeout: .now()) == .success ? take() : nil
    }

    private func take() -> Element? {
        let element = elements.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        // Wakes the next thread, which ends as well.
        if element == nil { changes.signal() }
        return element
    }
}
