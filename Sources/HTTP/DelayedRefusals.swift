import Synchronization

/// Requests beyond the capacity, which wait for their refusal.
///
/// All wait equally long, so they leave in the order of their arrival, and one task serves all.
final class DelayedRefusals: Sendable {
    private struct Entry {
        let exchange: Exchange
        let due: ContinuousClock.Instant
    }

    private struct State {
        var waiting: [Entry] = []
        var hasTask = false
    }

    /// The precision of the delay: requests due within it leave together.
    private static let grain = Duration.milliseconds(20)

    private let delay: Duration
    private let state = Mutex(State())

    init(delay: Duration) {
        self.delay = delay
    }

    /// Adds an exchange and passes it on after the delay.
    func add(_ exchange: Exchange, then answer: @escaping @Sendable (Exchange) -> Void) {
        let entry = Entry(exchange: exchange, due: .now + delay)
        let isFirst = state.withLock { state in
            state.waiting.append(entry)
            defer { state.hasTask = true }
            return !state.hasTask
        }
        if isFirst { Task { await watch(answer) } }
    }

    private func watch(_ answer: @Sendable (Exchange) -> Void) async {
        while let due = nextDue() {
            // The task is never cancelled; requests already answered by a stop are not answered again.
            try? await Task.sleep(until: due + Self.grain, clock: .continuous)
            for exchange in takeDue() { answer(exchange) }
        }
    }

    /// Returns the due time of the next one; nil ends the task.
    private func nextDue() -> ContinuousClock.Instant? {
        state.withLock { state in
            state.hasTask = !state.waiting.isEmpty
            return state.waiting.first?.due
        }
    }

    private func takeDue() -> [Exchange] {
        let now = ContinuousClock.now
        return state.withLock { state in
            let count = state.waiting.firstIndex { $0.due > now } ?? state.waiting.count
            defer { state.waiting.removeFirst(count) }
            return state.waiting.prefix(count).map(\.exchange)
        }
    }
}
