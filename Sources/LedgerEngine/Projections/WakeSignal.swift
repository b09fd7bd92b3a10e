import Synchronization

/// A flag that one task waits for and any task raises; raising it twice has the effect of once.
package final class WakeSignal: Sendable {
    private struct State {
        var isRaised = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Creates a flag that is not raised.
    package init() {}

    /// Resumes the waiting task, or the next one that waits; never blocks.
    package func raise() {
        let waiter = state.withLock { state in
            state.isRaised = true
            let waiter = state.waiter
            state.waiter = nil
            return waiter
        }
        waiter?.resume()
    }

    /// Waits until the flag is raised, the time has passed or the task is cancelled; lowers the flag.
    ///
    /// - Precondition: one waiter at a time.
    package func wait(atMost limit: Duration) async {
        guard !state.withLock({ $0.isRaised }) else { return lower() }
        await withTaskGroup { group in
            group.addTask { await self.waitUntilRaised() }
            group.addTask { _ = try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        lower()
    }

    private func lower() {
        state.withLock { $0.isRaised = false }
    }

    private func waitUntilRaised() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // When the task was cancelled before this point, the handler found no task to resume.
                    if state.isRaised || Task.isCancelled { return true }
                    precondition(state.waiter == nil, "a wake signal has one waiter")
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiter
                state.waiter = nil
                return waiter
            }
            waiter?.resume()
        }
    }
}
