import Ledger
import Synchronization

@testable import LedgerEngine

/// One server process: the real sequencer, on its own lane that can be paused or killed.
final class SimulatedProcess: Sendable {
    private struct State {
        var sequencer: Sequencer?
        var arrivals: [Int] = []
        var isAlive = true
        var hasStopped = false
        var pending: [Call] = []
    }

    /// The number of the process among all that were ever started.
    let number: Int
    /// The slot that it runs in.
    let slot: Int
    let lane: Lane
    /// The last events of its sequencer; few, so that they are often insufficient.
    let recent = RecentEvents(countMax: 8)
    private let state = Mutex(State())

    init(number: Int, slot: Int, lane: Lane) {
        self.number = number
        self.slot = slot
        self.lane = lane
    }

    var isAlive: Bool { state.withLock(\.isAlive) }

    /// The deliveries in the order in which their commands were queued.
    var arrivals: [Int] { state.withLock(\.arrivals) }

    /// The number of queued commands that have been answered: the next batch begins there.
    var decidedCount: Int {
        guard let statistics = sequencer?.statistics else { return 0 }
        return statistics.commands + statistics.failedCommands
    }

    var sequencer: Sequencer? { state.withLock(\.sequencer) }

    func start(_ sequencer: Sequencer) {
        state.withLock { $0.sequencer = sequencer }
    }

    /// Whether the sequencer has emptied its queue and ended.
    var hasStopped: Bool { state.withLock(\.hasStopped) }

    func stop() {
        state.withLock { $0.hasStopped = true }
    }

    /// Breaks the reference cycle of sequencer, store and process.
    func release() {
        state.withLock { $0.sequencer = nil }
    }

    func expect(_ call: Call) {
        state.withLock { $0.pending.append(call) }
    }

    /// Records that a delivery's command is queued next.
    func queue(_ delivery: Int) {
        state.withLock { $0.arrivals.append(delivery) }
    }

    /// Marks the process as dead; returns the calls that wait for it.
    func die() -> [Call] {
        state.withLock { state in
            state.isAlive = false
            let pending = state.pending
            state.pending = []
            return pending
        }
    }
}

/// A client's pending request: the first outcome that reaches the client counts.
final class Call: Sendable {
    /// The outcome that reaches a client.
    enum Outcome: Sendable {
        case answered(Sequencer.Answer, command: Command)
        /// No answer; whether it was done is unknown.
        case lost
    }

    private struct State {
        var outcome: Outcome?
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    func conclude(_ outcome: Outcome) {
        let waiter = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            let waiter = state.waiter
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: outcome)
    }

    func wait() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.waiter = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }
}
