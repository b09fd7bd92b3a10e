import Synchronization

/// Requests for which there was no room, on their way to hear so.
///
/// All wait equally long, so they leave in the order of their coming, and one task lets all go.
final class RefusalQueue: Sendable {
    private struct Entry {
        let exchange: Exchange
        let due: ContinuousClock.Instant
    }

    private struct State {
        var waiting: [Entry] = []
        var isWatched = false
    }

    /// How exactly the wait is kept: those who are due within it leave together.
    private static let grain = Duration.milliseconds(20)

    private let delay: Duration
    private let state = Mutex(State())

    init(delay: Duration) {
        self.delay = delay
    }

    /// Takes an exchange and hands it on when its time has come.
    func add(_ exchange: Exchange, then answer: @escaping @Sendable (Exchange) -> Void) {
        let entry = Entry(exchange: exchange, due: .now + delay)
        let isFirst = state.withLock { state in
            state.waiting.append(entry)
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if isFirst { Task { await watch(answer) } }
    }

    private func watch(_ answer: @Sendable (Exchange) -> Void) async {
        while let due = nextDue() {
            // Nobody cancels this; what a stop has answered before is answered only once.
            try? await Task.sleep(until: due + Self.grain, clock: .continuous)
            for exchange in takeDue() { answer(exchange) }
        }
    }

    /// When the next one is due; nil ends the watch.
    private func nextDue() -> ContinuousClock.Instant? {
        state.withLock { state in
            state.isWatched = !state.waiting.isEmpty
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
