import Synchronization

/// An element of a queue, and since when it has waited.
struct Queued<Element: Sendable>: Sendable {
    let element: Element
    let since: ContinuousClock.Instant
}

/// A bounded queue that is drained in batches by one consumer.
///
/// While the consumer works on one batch, the next one forms: under light load batches are small and
/// answers fast, under heavy load one commit carries many. What has waited too long when the consumer
/// comes back is not to be begun any more: so nobody waits for longer than the limit and one batch,
/// however many wait, and nothing is done for those who have long given up.
final class BatchQueue<Element: Sendable>: Sendable {
    /// What may be begun, and what is to be refused; each in the order of its coming.
    struct Sifted: Sendable {
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

    /// Makes a queue that holds at most so many elements, each to be begun within a time.
    init(
        limit: Int, waitMax: Duration = AnswerTime.waitMax,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limit = limit
        self.waitMax = waitMax
        self.now = now
    }

    /// How many elements wait.
    var depth: Int { state.withLock { $0.waiting.count } }

    /// Adds an element; false when the queue is full or closed.
    ///
    /// - Parameters:
    ///   - element: what is added.
    ///   - since: when it was added first, of one that was taken and comes again; nil for now.
    /// - Returns: whether it was added.
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

    /// Takes what waits, at most so many to be begun and all that is late, without waiting.
    func take(max: Int) -> Sifted {
        state.withLock { state in
            let sifted = sift(state.waiting)
            guard sifted.batch.count > max else {
                state.waiting = []
                state.waiting.reserveCapacity(sifted.batch.count)
                return sifted
            }
            state.waiting = Array(sifted.batch.dropFirst(max))
            return Sifted(batch: Array(sifted.batch.prefix(max)), late: sifted.late)
        }
    }

    /// Tells what may still be begun now from what has waited too long.
    func sift(_ waiting: [Queued<Element>]) -> Sifted {
        let oldest = now() - waitMax
        guard waiting.contains(where: { $0.since < oldest }) else {
            return Sifted(batch: waiting, late: [])
        }
        return Sifted(
            batch: waiting.filter { $0.since >= oldest },
            late: waiting.filter { $0.since < oldest })
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
