package import Synchronization

/// An element of a queue with the time since which it has waited.
package struct Queued<Element: Sendable>: Sendable {
    package let element: Element
    package let since: ContinuousClock.Instant

    /// Pairs an element with the time since which it has waited.
    @inlinable package init(element: Element, since: ContinuousClock.Instant) {
        self.element = element
        self.since = since
    }
}

/// A bounded queue that is drained in batches by one consumer.
///
/// While the consumer processes one batch, the next one forms: under light load batches are small
/// and answers fast, under heavy load one commit carries many commands. Elements that have waited
/// too long when the consumer returns are not started. An element therefore waits no longer than
/// the limit and one batch, whatever the load, and no work is done for clients that gave up long
/// ago.
package final class BatchQueue<Element: Sendable>: Sendable {
    /// Elements to start and elements to refuse, each in order of arrival.
    package struct Dequeued: Sendable {
        package let batch: [Queued<Element>]
        package let late: [Queued<Element>]

        @inlinable init(batch: [Queued<Element>], late: [Queued<Element>]) {
            self.batch = batch
            self.late = late
        }
    }

    @usableFromInline struct State {
        @usableFromInline var waiting: [Queued<Element>] = []
        @usableFromInline var consumer: CheckedContinuation<Void, Never>?
        @usableFromInline var isClosed = false

        @inlinable init() {}
    }

    @usableFromInline let limit: Int
    @usableFromInline let waitMax: Duration
    @usableFromInline let now: @Sendable () -> ContinuousClock.Instant
    @usableFromInline let state: Mutex<State>

    /// Creates a queue of limited capacity whose elements must be started within a time.
    @inlinable package init(
        limit: Int, waitMax: Duration = AnswerTime.waitMax,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limit = limit
        self.waitMax = waitMax
        self.now = now
        state = Mutex(State())
    }

    /// The number of waiting elements.
    @inlinable package var depth: Int { state.withLock { $0.waiting.count } }

    /// Adds an element; false when the queue is full or closed.
    ///
    /// - Parameters:
    ///   - element: The element to add.
    ///   - since: The time of its first arrival if it was removed and is added again; nil for now.
    /// - Returns: Whether it was added.
    @inlinable package func add(_ element: Element, since: ContinuousClock.Instant? = nil) -> Bool {
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

    /// Adds elements together: the consumer that they wake finds all of them.
    ///
    /// - Parameter elements: The elements to add.
    /// - Returns: The number of the first ones that were added: fewer than all when the queue is full or closed.
    @inlinable package func add(contentsOf elements: [Element]) -> Int {
        let since = now()
        let (added, consumer) = state.withLock { state in
            let room = state.isClosed ? 0 : max(0, limit - state.waiting.count)
            let added = min(room, elements.count)
            guard added > 0 else { return (0, CheckedContinuation<Void, Never>?.none) }
            state.waiting += elements.prefix(added).map { Queued(element: $0, since: since) }
            let consumer = state.consumer
            state.consumer = nil
            return (added, consumer)
        }
        consumer?.resume()
        return added
    }

    /// Removes up to `max` elements to start and all that are late, without waiting.
    ///
    /// - Parameters:
    ///   - max: The largest number of elements to start.
    ///   - isAlike: Whether an element may start with the first one, in order of their arrival; others stay. Nil for any.
    /// - Returns: The removed elements.
    @inlinable package func take(
        max: Int, alike isAlike: ((Element, Element) -> Bool)? = nil
    ) -> Dequeued {
        state.withLock { state in
            let dequeued = separatingLate(state.waiting)
            if let isAlike, let first = dequeued.batch.first?.element {
                var batch: [Queued<Element>] = []
                var left: [Queued<Element>] = []
                for queued in dequeued.batch {
                    if batch.count < max, isAlike(first, queued.element) {
                        batch.append(queued)
                    } else {
                        left.append(queued)
                    }
                }
                state.waiting = left
                return Dequeued(batch: batch, late: dequeued.late)
            }
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
    @inlinable package func separatingLate(_ waiting: [Queued<Element>]) -> Dequeued {
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
    @inlinable package func wait() async -> Bool {
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
    @inlinable package func close() {
        let consumer = state.withLock { state in
            state.isClosed = true
            let consumer = state.consumer
            state.consumer = nil
            return consumer
        }
        consumer?.resume()
    }
}
