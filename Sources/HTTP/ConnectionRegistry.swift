import Synchronization

/// The open connections, so that those of clients that drip can be cut.
///
/// libmicrohttpd itself cuts connections that are silent; this adds a limit on the whole.
final class ConnectionRegistry: Sendable {
    private let connections = Mutex<[ObjectIdentifier: ClientConnection]>([:])
    private let countMax: Int

    init(countMax: Int) {
        self.countMax = countMax
    }

    /// Adds a connection; when it takes the last place, one that waits for a request gives its own
    /// up.
    ///
    /// It is the one whose request is due first: new ones that are silent before those that have
    /// served one.
    func add(_ connection: ClientConnection) {
        connections.withLock { connections in
            connections[ObjectIdentifier(connection)] = connection
            guard connections.count >= countMax else { return }
            var first: (connection: ClientConnection, deadline: Int64)?
            for other in connections.values where other !== connection {
                guard let deadline = other.requestDeadline else { continue }
                if first.map({ deadline < $0.deadline }) ?? true { first = (other, deadline) }
            }
            first?.connection.cut()
        }
    }

    /// Forgets a connection; called before its descriptor is closed.
    func remove(_ connection: ClientConnection) {
        _ = connections.withLock { $0.removeValue(forKey: ObjectIdentifier(connection)) }
    }

    /// Cuts the connections whose deadline has passed.
    ///
    /// The lock is held meanwhile: a descriptor can't be closed, and its number used again, before
    /// `remove` has had the lock.
    func cutOverdue(at time: MonotonicTime) {
        connections.withLock { connections in
            for connection in connections.values where connection.isOverdue(at: time) {
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
