import Dispatch

/// A serial executor on its own dispatch queue, for actors that make blocking calls.
///
/// Keeps those calls off the cooperative pool, whose few threads must never wait for a socket. A
/// task that mostly calls such an actor can prefer its executor and then does not switch threads.
package final class BlockingExecutor: SerialExecutor, TaskExecutor, Sendable {
    private let queue: DispatchQueue

    /// Creates the queue; the label appears in debuggers.
    package init(label: String) {
        queue = DispatchQueue(label: label)
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
