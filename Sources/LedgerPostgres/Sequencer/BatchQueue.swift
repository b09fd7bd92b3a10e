import Synchronization

/// A bounded queue that is drained in batches by one consumer.
///
/// While the consumer works on one batch, the next one forms: under light load batches are small and
/// answers fast, under heavy load one commit carries many.
final class BatchQueue<Element: Sendable>: Sendable {
    private struct State {
        var waiting: [Element] = []
        var consumer: CheckedContinuation<Void, Never>?
        var isClosed = false
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Makes a queue that holds at most so many elements.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many elements wait.
    var depth: Int { state.withLock { $0.waiting.count } }

    /// Adds an element; false when the queue is full or closed.
    func add(_ element: Element) -> Bool {
        let (added, consumer) = state.withLock { state in
            guard !state.isClosed, state.waiting.count < limit else {
                return (false, CheckedContinuation<Void, Never>?.none)
            }
            state.waiting.append(element)
            let consumer = state.consumer
            state.consumer = nil
            return (true, consumer)
        }
        consumer?.resume()
        return added
    }

    /// Takes what waits, at most so many, without waiting.
    func take(max: Int) -> [Element] {
        state.withLock { state in
            guard state.waiting.count > max else {
                let all = state.waiting
                state.waiting = []
                state.waiting.reserveCapacity(all.count)
                return all
            }
            let first = Array(state.waiting.prefix(max))
            state.waiting.removeFirst(max)
            return first
        }
    }

    /// Waits until something is there; false once the queue is closed and empty.
    ///
    /// - Precondition: one consumer at a time.
    func wait() async -> Bool {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state in
                if !state.waiting.isEmpty || state.isClosed { return true }
                precondition(state.consumer == nil, "a batch queue has one consumer")
                state.consumer = continuation
                return false
            }
            if ready { continuation.resume() }
        }
        return state.withLock { !$0.waiting.isEmpty || !$0.isClosed }
    }

    /// Refuses what comes from now on; what waits is still taken.
    func close() {
        let consumer = state.withLock { state in
            state.isClosed = true
            let consumer = state.consumer
            state.consumer = nil
            return consumer
        }
        consumer?.resume()
    }
}
