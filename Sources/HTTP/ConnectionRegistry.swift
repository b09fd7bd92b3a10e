import Dispatch
import Synchronization

/// The open connections: their limit and their deadlines.
///
/// libmicrohttpd itself closes idle connections; this adds a limit on the total time.
final class ConnectionRegistry: Sendable {
    /// The result of an attempt to acquire a slot.
    enum Acquisition {
        case taken, none, closed
    }

    private struct State {
        var connections: [ObjectIdentifier: ClientConnection] = [:]
        /// The number of connections, including those being accepted.
        var slotsInUse = 0
        var isSlotAwaited = false
        var isClosed = false
        /// The connection that was cut to make way for another, until it is removed.
        var cut: ObjectIdentifier?

        mutating func acquireSlot(countMax: Int, cutsEarly: Bool) -> Acquisition {
            if isClosed { return .closed }
            isSlotAwaited = slotsInUse >= countMax
            guard isSlotAwaited else {
                slotsInUse += 1
                return .taken
            }
            // Connections that are still being accepted may be due first.
            if cut == nil, cutsEarly || connections.count == slotsInUse { cutIdleConnection() }
            return .none
        }

        /// Cuts the idle connection whose request is due first: new silent ones before those that have
        /// already sent a request.
        private mutating func cutIdleConnection() {
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

    /// Interval of the search for an idle connection when the limit is reached.
    private static let searchInterval = DispatchTimeInterval.milliseconds(100)

    private let state = Mutex(State())
    private let slotFreed = DispatchSemaphore(value: 0)
    private let countMax: Int

    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Blocks until there is capacity for another connection; false after `close`.
    ///
    /// At the limit, a connection that waits for its client's next request is cut. `remove` releases the
    /// slot, or `releaseSlot` if no connection used it.
    func acquireSlot() -> Bool {
        var cutsEarly = false
        while true {
            switch tryToAcquireSlot(cutsEarly: cutsEarly) {
            case .taken: return true
            case .closed: return false
            case .none:
                cutsEarly = slotFreed.wait(timeout: .now() + Self.searchInterval) == .timedOut
            }
        }
    }

    /// Makes one attempt, and cuts an idle connection at the limit: only when no connection is still being
    /// accepted, unless `cutsEarly`.
    func tryToAcquireSlot(cutsEarly: Bool) -> Acquisition {
        state.withLock { $0.acquireSlot(countMax: countMax, cutsEarly: cutsEarly) }
    }

    /// Releases a slot that no connection used.
    func releaseSlot() {
        update { $0.slotsInUse -= 1 }
    }

    /// Stops admitting connections.
    func close() {
        update { $0.isClosed = true }
    }

    private func update(_ change: (inout State) -> Void) {
        let isAwaited = state.withLock { state in
            change(&state)
            defer { state.isSlotAwaited = false }
            return state.isSlotAwaited
        }
        if isAwaited { slotFreed.signal() }
    }

    func add(_ connection: ClientConnection) {
        update { $0.connections[ObjectIdentifier(connection)] = connection }
    }

    /// Removes a connection; called before its descriptor is closed.
    func remove(_ connection: ClientConnection) {
        let id = ObjectIdentifier(connection)
        update { state in
            guard state.connections.removeValue(forKey: id) != nil else { return }
            state.slotsInUse -= 1
            if state.cut == id { state.cut = nil }
        }
    }

    /// Cuts the connections whose deadline has passed.
    ///
    /// The lock is held meanwhile: a descriptor can't be closed, and its number reused, before `remove`
    /// has acquired the lock.
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
