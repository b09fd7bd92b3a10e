internal import Synchronization

/// A fixed number of blocking executors and a bounded number of callers, for computations that take long.
///
/// A caller is admitted before it does anything else, so that a refusal costs nothing and tells nothing.
/// The pool has no queue beyond what it admits: at most `admittedMax` callers run or wait at a time.
package final class BlockingPool: Sendable {
    /// The refusal of a caller, because as many as may be are admitted already.
    package struct Full: Error, Hashable {}

    private let executors: [BlockingExecutor]
    private let admittedMax: Int
    private let state: Mutex<State>

    private struct State {
        var admitted = 0
        /// The number of bodies that each executor runs or will run.
        var loads: [Int]
    }

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - label: Appears in debuggers.
    ///   - threads: The number of bodies that run at a time.
    ///   - waitingMax: The number of callers that may wait beside them.
    package init(label: String, threads: Int, waitingMax: Int) {
        precondition(threads > 0 && waitingMax >= 0, "a pool needs a thread")
        executors = (0..<threads).map { BlockingExecutor(label: "\(label) \($0)") }
        admittedMax = threads + waitingMax
        state = Mutex(State(loads: Array(repeating: 0, count: threads)))
    }

    /// The right to run one body; it ends with its last use.
    package struct Admission: ~Copyable, Sendable {
        private let pool: BlockingPool

        fileprivate init(to pool: BlockingPool) {
            self.pool = pool
        }

        deinit {
            pool.state.withLock { $0.admitted -= 1 }
        }

        /// Runs a body on the thread with the fewest bodies.
        ///
        /// - Returns: The result of the body.
        /// - Throws: The error of the body.
        package consuming func run<Value: Sendable, Failure: Error>(
            _ body: @escaping @Sendable () throws(Failure) -> Value
        ) async throws(Failure) -> Value {
            let index = pool.state.withLock { state in
                let index = state.loads.indices.min { state.loads[$0] < state.loads[$1] } ?? 0
                state.loads[index] += 1
                return index
            }
            defer { pool.state.withLock { $0.loads[index] -= 1 } }
            return try await pool.executors[index].run(body)
        }
    }

    /// Admits a caller.
    ///
    /// - Throws: `Full`.
    package func admit() throws(Full) -> Admission {
        let isAdmitted = state.withLock { state in
            guard state.admitted < admittedMax else { return false }
            state.admitted += 1
            return true
        }
        guard isAdmitted else { throw Full() }
        return Admission(to: self)
    }

    /// The number of callers that are admitted.
    package var admittedCount: Int { state.withLock(\.admitted) }
}
