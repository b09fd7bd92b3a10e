import Dispatch

/// A serial executor on its own dispatch queue, for actors and tests that make blocking calls.
///
/// Keeps those calls off the cooperative pool, whose few threads must never wait for a socket or compute
/// for seconds. A task that mostly calls an actor on such an executor can prefer it and then does not
/// switch threads. Loops of their own, such as that of `HTTPClient`, have a thread instead.
package final class BlockingExecutor: SerialExecutor, TaskExecutor, Sendable {
    private let queue: DispatchQueue

    /// Creates the queue; the label appears in debuggers.
    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs a blocking body after everything enqueued before it.
    ///
    /// - Returns: the result of the body.
    /// - Throws: the error of the body.
    package func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// Runs a job after those enqueued before it.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            unsafe job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(),
                taskExecutor: self.asUnownedTaskExecutor())
        }
    }

    /// Traps when the caller does not run on this executor.
    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
