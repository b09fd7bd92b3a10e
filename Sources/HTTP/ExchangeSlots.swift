import Dispatch
import Synchronization

/// The requests in progress, from their body to their response, and the admission of further ones.
///
/// libmicrohttpd aborts the program when it is stopped while a connection is suspended. So one lock
/// covers both decisions: whether a request may still be handled, and whether the server may stop.
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
        /// Free slots for requests that are always admitted.
        var reserve: [Int]
        var receivingCount = 0
        /// No answer has been unread for too long before this time in nanoseconds.
        var nextCut: Int64 = 0

        var isIdle: Bool {
            receivingCount == 0 && free.count + reserve.count == occupants.count
        }

        /// Cuts the connection whose answer has been unread for longest, which releases its slot.
        ///
        /// The lock is held meanwhile: an exchange leaves its slot before its descriptor is closed.
        mutating func cutUnread(among count: Int) {
            let now = MonotonicTime.now.nanoseconds
            guard now >= nextCut else { return }
            let first = occupants.prefix(count).lazy.compactMap { $0 }.min {
                $0.answeredAt < $1.answeredAt
            }
            nextCut = min(first?.answeredAt ?? now, now) + ExchangeSlots.unreadNanosecondsMax
            if now >= nextCut { first?.cut() }
        }
    }

    /// The time for which an answer may be unread while requests are refused.
    private static let unreadNanosecondsMax: Int64 = 1_000_000_000
    private let state: Mutex<State>
    private let draining = Atomic(false)
    private let count: Int
    /// Entered once for every admitted request, and once for every body being received.
    private let inFlight = DispatchGroup()

    /// Makes slots for `count` requests, and a reserve for those that are always admitted.
    init(count: Int, reserve: Int) {
        self.count = count
        state = Mutex(
            State(
                occupants: Array(repeating: nil, count: count + reserve),
                free: Array((0..<count).reversed()),
                reserve: Array((count..<count + reserve).reversed())))
    }

    /// Whether the server has begun to stop.
    var isDraining: Bool { draining.load(ordering: .relaxed) }

    /// Counts a request whose body is being received; false when the server no longer waits for it.
    func beginReceiving() -> Bool {
        state.withLock { state in
            guard state.phase != .stopped else { return false }
            state.receivingCount += 1
            inFlight.enter()
            return true
        }
    }

    /// Stops counting a request.
    func endReceiving() {
        state.withLock { state in
            // The stop of the server has already released the counted ones.
            guard state.phase != .stopped else { return }
            state.receivingCount -= 1
            inFlight.leave()
        }
    }

    /// Assigns a slot to a request, from the reserve if it is always admitted.
    ///
    /// Without a free slot it cuts a client that reads no answer, so that those clients can't occupy all slots.
    func admit(_ exchange: Exchange, always: Bool) -> Admission {
        state.withLock { state in
            guard state.phase != .stopped else { return .stopped }
            guard let slot = always ? state.reserve.popLast() : state.free.popLast() else {
                state.cutUnread(among: count)
                return .full
            }
            state.occupants[slot] = exchange
            inFlight.enter()
            return .admitted(slot: slot)
        }
    }

    /// Releases a slot when the response is sent or the connection is closed.
    func leave(_ slot: Int) {
        // The exchange must not be freed while the lock is held.
        let exchange = state.withLock { state in
            if slot < count { state.free.append(slot) } else { state.reserve.append(slot) }
            return state.occupants[slot].take()
        }
        precondition(exchange != nil, "a slot is released once")
        inFlight.leave()
    }

    /// Begins to stop; false when it had already begun.
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

    /// Stops admission if no request is in flight.
    func stopIfIdle() -> Bool {
        state.withLock { state in
            guard state.isIdle else { return false }
            state.phase = .stopped
            return true
        }
    }

    /// Stops admission, drops the bodies being received, and returns the requests still in flight.
    func stop() -> [Exchange] {
        state.withLock { state in
            state.phase = .stopped
            for _ in 0..<state.receivingCount { inFlight.leave() }
            state.receivingCount = 0
            return state.occupants.compactMap { $0 }
        }
    }

    /// Blocks until no request is in flight or until a time; true when none is in flight.
    func waitUntilIdle(_ time: DispatchTime) -> Bool {
        inFlight.wait(timeout: time) == .success
    }
}
