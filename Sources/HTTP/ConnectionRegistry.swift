import Dispatch
import Synchronization

/// The open connections: how many there may be, and which have to be cut.
///
/// libmicrohttpd itself cuts connections that are silent; this adds a limit on the whole.
final class ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: ClientConnection] = [:]
        /// The connections, and those that are on their way to being one.
        var placesTaken = 0
        var isPlaceAwaited = false
        var isClosed = false
    }

    private enum Place {
        case taken, none, closed
    }

    private let state = Mutex(State())
    private let placeFreed = DispatchSemaphore(value: 0)
    private let countMax: Int

    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Blocks until there is room for one more connection; false when no more are taken.
    ///
    /// The place is given back by `remove`, or by `giveBackPlace` when no connection comes of it.
    func takePlace() -> Bool {
        while true {
            let place: Place = state.withLock { state in
                if state.isClosed { return .closed }
                state.isPlaceAwaited = state.placesTaken >= countMax
                if state.isPlaceAwaited { return .none }
                state.placesTaken += 1
                return .taken
            }
            switch place {
            case .taken: return true
            case .closed: return false
            case .none: placeFreed.wait()
            }
        }
    }

    /// Gives back a place that no connection has taken.
    func giveBackPlace() {
        changePlaces { $0.placesTaken -= 1 }
    }

    /// Takes no more connections.
    func close() {
        changePlaces { $0.isClosed = true }
    }

    private func changePlaces(_ change: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            change(&state)
            defer { state.isPlaceAwaited = false }
            return state.isPlaceAwaited
        }
        if isAwaited { placeFreed.signal() }
    }

    /// Adds a connection; when it takes the last place, one that waits for a request gives its own
    /// up.
    ///
    /// It is the one whose request is due first: new ones that are silent before those that have
    /// served one.
    func add(_ connection: ClientConnection) {
        state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = connection
            guard state.connections.count >= countMax else { return }
            var first: (connection: ClientConnection, deadline: Int64)?
            for other in state.connections.values where other !== connection {
                guard let deadline = other.requestDeadline else { continue }
                if first.map({ deadline < $0.deadline }) ?? true { first = (other, deadline) }
            }
            first?.connection.cut()
        }
    }

    /// Forgets a connection; called before its descriptor is closed.
    func remove(_ connection: ClientConnection) {
        changePlaces { state in
            guard state.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else {
                return
            }
            state.placesTaken -= 1
        }
    }

    /// Cuts the connections whose deadline has passed.
    ///
    /// The lock is held meanwhile: a descriptor can't be closed, and its number used again, before
    /// `remove` has had the lock.
    func cutOverdue(at time: MonotonicTime) {
        state.withLock { state in
            for connection in state.connections.values where connection.isOverdue(at: time) {
                connection.cut()
            }
        }
    }

    /// Cuts overdue connections at an interval until the task is cancelled.
    func watch(every interval: Duration) async {
        while (try? await Task.sleep(for: interval)) != nil {
            cutOverdue(at: .now)
        }
    }
}
