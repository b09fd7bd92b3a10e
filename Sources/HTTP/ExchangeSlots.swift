import Dispatch
import Synchronization

/// The requests whose body is on its way, or that are with the handler or on their way back, and
/// whether more may come.
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
        /// Free as well, but only for requests that are always admitted.
        var reserve: [Int]
        var receivingCount = 0

        var isIdle: Bool {
            receivingCount == 0 && free.count + reserve.count == occupants.count
        }
    }

    private let state: Mutex<State>
    private let draining = Atomic(false)
    private let count: Int
    /// Entered once for every admitted request, and once for every body on its way.
    private let inFlight = DispatchGroup()

    /// Makes slots for so many requests, and for so many more that are always admitted.
    init(count: Int, reserve: Int) {
        self.count = count
        state = Mutex(
            State(
                occupants: Array(repeating: nil, count: count + reserve),
                free: Array((0..<count).reversed()),
                reserve: Array((count..<count + reserve).reversed())))
    }

    /// True as soon as the server has begun to stop.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Counts a request whose body is on its way; false when the server no longer waits for it.
    func beginReceiving() -> Bool {
        state.withLock { state in
            guard state.phase != .stopped else { return false }
            state.receivingCount += 1
            inFlight.enter()
            return true
        }
    }

    /// Ends the count of a request.
    func endReceiving() {
        state.withLock { state in
            // Those that were counted when the server stopped have been let go then.
            guard state.phase != .stopped else { return }
            state.receivingCount -= 1
            inFlight.leave()
        }
    }

    /// Takes a slot for a request; from the reserve for one that is always admitted.
    func admit(_ exchange: Exchange, always: Bool) -> Admission {
        state.withLock { state in
            guard state.phase != .stopped else { return .stopped }
            guard let slot = always ? state.reserve.popLast() : state.free.popLast() else {
                return .full
            }
            state.occupants[slot] = exchange
            inFlight.enter()
            return .admitted(slot: slot)
        }
    }

    /// Gives the slot back when the answer is sent or the connection is gone.
    func leave(_ slot: Int) {
        // The exchange must not be freed while the lock is held.
        let exchange = state.withLock { state in
            if slot < count { state.free.append(slot) } else { state.reserve.append(slot) }
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

    /// The requests that are in flight.
    var inFlightExchanges: [Exchange] { state.withLock { $0.occupants.compactMap { $0 } } }

    /// Admits nothing from now on, if no request is in flight.
    func stopIfIdle() -> Bool {
        state.withLock { state in
            guard state.isIdle else { return false }
            state.phase = .stopped
            return true
        }
    }

    /// Admits nothing from now on, lets the bodies on their way go, and gives the requests still in
    /// flight.
    func stop() -> [Exchange] {
        state.withLock { state in
            state.phase = .stopped
            for _ in 0..<state.receivingCount { inFlight.leave() }
            state.receivingCount = 0
            return state.occupants.compactMap { $0 }
        }
    }

    /// Blocks until no request is in flight or the time has come; true when none is.
    func waitUntilIdle(_ time: DispatchTime) -> Bool {
        inFlight.wait(timeout: time) == .success
    }
}
