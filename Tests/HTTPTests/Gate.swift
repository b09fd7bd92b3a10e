import Synchronization

/// Holds requests inside the handler, and counts them for the test.
final class Gate: Sendable {
    struct TimedOut: Error {
        let waitingFor: String
    }

    private struct State {
        var isOpen = false
        var arrivals = 0
        var held: [CheckedContinuation<Void, Never>] = []
        var watchers: [Int: (count: Int, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var nextWatcher = 0
    }

    private let state = Mutex(State())

    /// The number of arrivals.
    var count: Int { state.withLock { $0.arrivals } }

    /// Counts an arrival and waits until the gate is open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, watchers) = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.held.append(continuation) }
                let due = state.watchers.filter { $0.value.count <= state.arrivals }
                for key in due.keys { state.watchers[key] = nil }
                return (state.isOpen, due.values.map(\.continuation))
            }
            for watcher in watchers { watcher.resume(returning: true) }
            if isOpen { continuation.resume() }
        }
    }

    /// Opens the gate for all, now and later.
    func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }

    /// Waits until this number has arrived.
    func waitForArrivals(_ count: Int, within limit: Duration = .seconds(120)) async throws {
        let arrived = await withCheckedContinuation { continuation in
            let watcher: Int? = state.withLock { state in
                guard state.arrivals < count else { return nil }
                state.nextWatcher += 1
                state.watchers[state.nextWatcher] = (count, continuation)
                return state.nextWatcher
            }
            guard let watcher else { return continuation.resume(returning: true) }
            Task {
                try await Task.sleep(for: limit)
                let late = state.withLock { $0.watchers.removeValue(forKey: watcher) }
                late?.continuation.resume(returning: false)
            }
        }
        guard arrived else { throw TimedOut(waitingFor: "\(count) arrivals at the gate") }
    }
}
