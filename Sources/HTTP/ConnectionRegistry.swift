import Dispatch
import Synchronization

/// The open connections: how many there may be, and which have to be cut.
///
/// libmicrohttpd itself cuts connections that are silent; this adds a limit on the whole.
final class ConnectionRegistry: Sendable {
    private enum Place {
        case taken, none, closed
    }

    private struct State {
        var connections: [ObjectIdentifier: ClientConnection] = [:]
        /// The connections, and those that are on their way to being one.
        var placesTaken = 0
        var isPlaceAwaited = false
        var isClosed = false
        /// The connection that was cut for the sake of another, until it is gone.
        var cut: ObjectIdentifier?

        mutating func takePlace(countMax: Int) -> Place {
            if isClosed { return .closed }
            isPlaceAwaited = placesTaken >= countMax
            guard isPlaceAwaited else {
                placesTaken += 1
                return .taken
            }
            if cut == nil { cutOneAtRest() }
            return .none
        }

        /// Has the connection whose request is due first give its place up: new ones that are silent
        /// before those that have served one.
        private mutating func cutOneAtRest() {
            var first: (connection: ClientConnection, deadline: Int64)?
            for connection in connections.values {
                guard let deadline = connection.requestDeadline else { continue }
                if first.map({ deadline < $0.deadline }) ?? true { first = (connection, deadline) }
            }
            guard let (connection, _) = first else { return }
            cut = ObjectIdentifier(connection)
            connection.cut()
        }
    }

    /// How soon a full house is looked at again for a connection at rest.
    private static let lookPause = DispatchTimeInterval.milliseconds(100)

    private let state = Mutex(State())
    private let placeFreed = DispatchSemaphore(value: 0)
    private let countMax: Int

    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Blocks until there is room for one more connection; false when no more are taken.
    ///
    /// When all places are taken, one that waits for its client's next request gives its own up. The place is
    /// given back by `remove`, or by `giveBackPlace` when no connection comes of it.
    func takePlace() -> Bool {
        while true {
            switch state.withLock({ $0.takePlace(countMax: countMax) }) {
            case .taken: return true
            case .closed: return false
            case .none: _ = placeFreed.wait(timeout: .now() + Self.lookPause)
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

    func add(_ connection: ClientConnection) {
        state.withLock { $0.connections[ObjectIdentifier(connection)] = connection }
    }

    /// Forgets a connection; called before its descriptor is closed.
    func remove(_ connection: ClientConnection) {
        let id = ObjectIdentifier(connection)
        changePlaces { state in
            guard state.connections.removeValue(forKey: id) != nil else { return }
            state.placesTaken -= 1
            if state.cut == id { state.cut = nil }
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
