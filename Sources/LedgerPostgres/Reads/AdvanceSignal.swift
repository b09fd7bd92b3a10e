import Ledger
import Synchronization

/// A signal that wakes any number of waiting tasks.
package final class AdvanceSignal: LogWatch {
    private struct State {
        var count: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of times it was raised, which a waiter remembers.
    package var count: UInt64 { state.withLock { $0.count } }

    /// Creates a signal that was never raised.
    package init() {}

    /// Wakes all waiting tasks; never blocks.
    package func raise() {
        let waiters = state.withLock { state in
            state.count += 1
            let waiters = state.waiters
            state.waiters = [:]
            return waiters
        }
        for waiter in waiters.values { waiter.resume() }
    }

    /// Waits until it was raised more than `seen` times, the time limit passes or the task is
    /// cancelled.
    package func wait(since seen: UInt64, atMost limit: Duration) async {
        guard count == seen else { return }
        await withTaskGroup { group in
            group.addTask { await self.wait(since: seen) }
            group.addTask { _ = try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(since seen: UInt64) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A task that was cancelled before this point would never be resumed.
                    if state.count != seen || Task.isCancelled { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}
