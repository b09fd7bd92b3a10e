internal import Foundation
internal import Glibc
internal import Synchronization

/// A fixed number of threads and a bounded number of callers, for computations that take long.
///
/// A caller is admitted before it does anything else, so that a refusal costs nothing and tells nothing.
/// The pool has no queue beyond what it admits: at most `admittedMax` callers run or wait at a time. The
/// threads have a low priority: as many as there are processors leave other work its share of them.
package final class BlockingPool: Sendable {
    /// The refusal of a caller, because as many as may be are admitted already.
    package struct Full: Error, Hashable {}

    /// The nice value of the threads, of 0 to 19.
    private static let nice: Int32 = 10

    private let jobs = Jobs()
    private let admittedMax: Int
    private let admitted = Mutex(0)

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - label: Appears in debuggers.
    ///   - threads: The number of bodies that run at a time.
    ///   - waitingMax: The number of callers that may wait beside them.
    package init(label: String, threads: Int, waitingMax: Int) {
        precondition(threads > 0 && waitingMax >= 0, "a pool needs a thread")
        admittedMax = threads + waitingMax
        for _ in 0..<threads {
            let thread = Thread { [jobs] in
                // Fails only where the platform forbids it, and then the threads are as others.
                _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, Self.nice)
                jobs.runAll()
            }
            thread.name = label
            thread.start()
        }
    }

    deinit {
        jobs.end()
    }

    /// The right to run one body; it ends with its last use.
    package struct Admission: ~Copyable, Sendable {
        private let pool: BlockingPool

        fileprivate init(to pool: BlockingPool) {
            self.pool = pool
        }

        deinit {
            pool.admitted.withLock { $0 -= 1 }
        }

        /// Runs a body after those of earlier callers have begun.
        ///
        /// - Returns: The result of the body.
        /// - Throws: The error of the body.
        package consuming func run<Value: Sendable, Failure: Error>(
            _ body: @escaping @Sendable () throws(Failure) -> Value
        ) async throws(Failure) -> Value {
            let result = await withCheckedContinuation { continuation in
                pool.jobs.add { continuation.resume(returning: Result(catching: body)) }
            }
            return try result.get()
        }
    }

    /// Admits a caller.
    ///
    /// - Throws: `Full`.
    package func admit() throws(Full) -> Admission {
        let isAdmitted = admitted.withLock { count in
            guard count < admittedMax else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw Full() }
        return Admission(to: self)
    }

    /// The number of callers that are admitted.
    package var admittedCount: Int { admitted.withLock(\.self) }
}

/// The bodies that wait for a thread of a pool.
private final class Jobs: Sendable {
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    /// Counts the waiting bodies; one more ends the threads.
    private let changes = DispatchSemaphore(value: 0)

    func add(_ job: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(job) }
        changes.signal()
    }

    /// Ends the threads after the last waiting body.
    func end() {
        changes.signal()
    }

    /// Runs bodies in the order of their arrival until the end.
    func runAll() {
        while true {
            changes.wait()
            let job = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let job else { break }
            job()
        }
        // Wakes the next thread, which ends as well.
        changes.signal()
    }
}
