import Synchronization

/// An element of a queue with the time since which it has waited.
struct Queued<Element: Sendable>: Sendable {
    let element: Element
    let since: ContinuousClock.Instant
}

/// A bounded queue that is drained in batches by one consumer.
///
/// While the consumer processes one batch, the next one forms: under light load batches are small
/// and answers fast, under heavy load one commit carries many commands. Elements that have waited
/// too long when the consumer returns are not started. An element therefore waits no longer than
/// the limit and one batch, whatever the load, and no work is done for clients that gave up long
/// ago.
final class BatchQueue<Element: Sendable>: Sendable {
    /// Elements to start and elements to refuse, each in order of arrival.
    struct Dequeued: Sendable {
        let batch: [Queued<Element>]
        let late: [Queued<Element>]
    }

    private struct State {
        var waiting: [Queued<Element>] = []
        var consumer: CheckedContinuation<Void, Never>?
        var isClosed = false
    }

    private let limit: Int
    private let waitMax: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// Creates a queue of limited capacity whose elements must be started within a time.
    init(
        limit: Int, waitMax: Duration = AnswerTime.waitMax,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limit = limit
        self.waitMax = waitMax
        self.now = now
    }

    /// The number of waiting elements.
    var depth: Int { state.withLock { $0.waiting.count } }

    /// Adds an element; false when the queue is full or closed.
    ///
    /// - Parameters:
    ///   - element: The element to add.
    ///   - since: The time of its first arrival if it was removed and is added again; nil for now.
    /// - Returns: Whether it was added.
    func add(_ element: Element, since: ContinuousClock.Instant? = nil) -> Bool {
        let queued = Queued(element: element, since: since ?? now())
        let (added, consumer) = state.withLock { state in
            guard !state.isClosed, state.waiting.count < limit else {
                return (false, CheckedContinuation<Void, Never>?.none)
            }
            state.waiting.append(queued)
            let consumer = state.consumer
            state.consumer = nil
            return (true, consumer)
        }
        consumer?.resume()
        return added
    }

    /// Removes up to `max` elements to start and all that are late, without waiting.
    func take(max: Int) -> Dequeued {
        state.withLock { state in
            let dequeued = separatingLate(state.waiting)
            guard dequeued.batch.count > max else {
                state.waiting = []
                state.waiting.reserveCapacity(dequeued.batch.count)
                return dequeued
            }
            state.waiting = Array(dequeued.batch.dropFirst(max))
            return Dequeued(batch: Array(dequeued.batch.prefix(max)), late: dequeued.late)
        }
    }

    /// Separates elements that may still be started from those that have waited too long.
    func separatingLate(_ waiting: [Queued<Element>]) -> Dequeued {
        let oldest = now() - waitMax
        guard waiting.contains(where: { $0.since < oldest }) else {
            return Dequeued(batch: waiting, late: [])
        }
        return Dequeued(
            batch: waiting.filter { $0.since >= oldest },
            late: waiting.filter { $0.since < oldest })
    }

    /// Waits for an element; false once the queue is closed and empty.
    ///
    /// - Precondition: Only one consumer at a time.
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

    /// Refuses new elements; waiting ones can still be taken.
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
