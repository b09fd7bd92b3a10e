import Dispatch
import Synchronization

/// The requests that are with the handler or on their way back, and whether more may come.
///
/// libmicrohttpd stops the whole program when it is stopped while a connection is suspended. So
/// whether a request may still be handled, and whether the server may stop, is decided under one
/// lock.
final class ExchangeSlots: Sendable {
    enum Admission {
        case admitted(slot: Int)
        case full
        case stopped
    }

    private enum Phase {
        case running, draining, stopped
    }

    private struct State {
        var phase = Phase.running
        var occupants: [Exchange?]
        var free: [Int]
    }

    private let state: Mutex<State>
    private let draining = Atomic(false)
    /// Entered once for every admitted request.
    private let inFlight = DispatchGroup()

    init(count: Int) {
        state = Mutex(
            State(
                occupants: Array(repeating: nil, count: count), free: Array((0..<count).reversed())
            ))
    }

    /// True as soon as the server has begun to stop.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Takes a slot for a request.
    func admit(_ exchange: Exchange) -> Admission {
        state.withLock { state in
            guard state.phase != .stopped else { return .stopped }
            guard let slot = state.free.popLast() else { return .full }
            state.occupants[slot] = exchange
            inFlight.enter()
            return .admitted(slot: slot)
        }
    }

    /// Gives the slot back when the answer is sent or the connection is gone.
    func leave(_ slot: Int) {
        // The exchange must not be freed while the lock is held.
        let exchange = state.withLock { state in
            state.free.append(slot)
            return state.occupants[slot].take()
        }
        precondition(exchange != nil, "a slot is left once")
        inFlight.leave()
    }

    /// Begins to stop; false when that has happened before.
    func beginDraining() -> Bool {
        state.withLock { state in
            guard state.phase == .running else { return false }
            state.phase = .draining
            draining.store(true, ordering: .relaxed)
            return true
        }
    }

    /// Admits nothing from now on, if no request is in flight.
    func stopIfIdle() -> Bool {
        state.withLock { state in
            guard state.free.count == state.occupants.count else { return false }
            state.phase = .stopped
            return true
        }
    }

    /// Admits nothing from now on and gives the requests still in flight.
    func stop() -> [Exchange] {
        state.withLock { state in
            state.phase = .stopped
            return state.occupants.compactMap { $0 }
        }
    }

    /// Blocks until no request is in flight or the time has come; true when none is.
    func waitUntilIdle(_ time: DispatchTime) -> Bool {
        inFlight.wait(timeout: time) == .success
    }
}
