import Dispatch

/// A serial executor on a dispatch queue of its own, for actors that own blocking calls.
///
/// Keeps those calls off the cooperative pool, whose few threads must never wait for a socket. A task
/// that works with such an actor all the time can prefer its executor, and changes no threads then.
package final class BlockingExecutor: SerialExecutor, TaskExecutor, Sendable {
    private let queue: DispatchQueue

    /// Makes the queue; the label shows in debuggers.
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
