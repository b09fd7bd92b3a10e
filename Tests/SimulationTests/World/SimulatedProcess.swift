import Ledger
import Synchronization

@testable import LedgerPostgres

/// One server process: the real sequencer, on a lane of its own that can be stopped or killed.
final class SimulatedProcess: Sendable {
    private struct State {
        var sequencer: Sequencer?
        var arrivals: [Int] = []
        var isAlive = true
        var hasStopped = false
        var pending: [Call] = []
    }

    /// Counts every process that was ever started.
    let number: Int
    /// The place that it runs at, of those that the simulation has.
    let place: Int
    let lane: Lane
    /// What its sequencer appended last; few, so that they often do not reach.
    let recent = RecentEvents(countMax: 8)
    private let state = Mutex(State())

    init(number: Int, place: Int, lane: Lane) {
        self.number = number
        self.place = place
        self.lane = lane
    }

    var isAlive: Bool { state.withLock(\.isAlive) }

    /// The deliveries in the order in which their commands were queued.
    var arrivals: [Int] { state.withLock(\.arrivals) }

    /// How many of the queued commands have been answered: the next batch begins there.
    var decidedCount: Int {
        guard let statistics = sequencer?.statistics else { return 0 }
        return statistics.commands + statistics.failedCommands
    }

    var sequencer: Sequencer? { state.withLock(\.sequencer) }

    func start(_ sequencer: Sequencer) {
        state.withLock { $0.sequencer = sequencer }
    }

    /// Whether the sequencer has worked off its queue and ended.
    var hasStopped: Bool { state.withLock(\.hasStopped) }

    func stop() {
        state.withLock { $0.hasStopped = true }
    }

    /// Lets go of the sequencer, which holds its store, which holds this process.
    func release() {
        state.withLock { $0.sequencer = nil }
    }

    func expect(_ call: Call) {
        state.withLock { $0.pending.append(call) }
    }

    /// Notes that a delivery's command is queued next.
    func queue(_ delivery: Int) {
        state.withLock { $0.arrivals.append(delivery) }
    }

    /// Marks the process as gone; those who wait for it are told.
    func die() -> [Call] {
        state.withLock { state in
            state.isAlive = false
            let pending = state.pending
            state.pending = []
            return pending
        }
    }
}

/// A client's request on its way: the first thing that the client hears about it counts.
final class Call: Sendable {
    /// What a client hears.
    enum Outcome: Sendable {
        case answered(Sequencer.Answer, command: Command)
        /// Nothing; whether it was done is unknown.
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
