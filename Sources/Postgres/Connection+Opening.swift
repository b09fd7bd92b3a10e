internal import CLibPQ

extension Connection {
    /// Settings that a URL may override.
    private static let defaults: [(String, String)] = [
        ("keepalives", "1"), ("keepalives_idle", "5"), ("keepalives_interval", "2"),
        ("keepalives_count", "3"),
        // Milliseconds until unacknowledged data ends the connection: a server that vanished is
        // noticed in seconds, not in the quarter of an hour that TCP takes by itself.
        ("tcp_user_timeout", "5000"),
    ]

    static func open(
        url: String, applicationName: String, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> ConnectionHandle {
        // What libpq cannot parse is refused here, because its own message would quote the
        // password.
        guard !url.utf8.contains(0), let given = ConnectionHandle.parse(url) else {
            throw .connectionFailed("the connection URL cannot be parsed")
        }
        let settings =
            defaults + [
                ("dbname", url), ("application_name", applicationName),
                ("client_encoding", "UTF8"),
            ]
        // libpq tries the next host or address when one refuses, but not when one is silent: such as the
        // machine of a primary that is gone, while the next host has taken over.
        let hosts = ServerAddress.each(in: given)
        guard !hosts.isEmpty else { return try open(settings, until: deadline) }
        let turns = wantedServers(given, ofSeveral: hosts.count > 1).flatMap { wanted in
            hosts.map { (host: $0, settings: settings + wanted) }
        }
        return try first(of: turns, until: deadline) { turn, end throws(PostgresError) in
            // A name is looked up when it is its turn, since that may take long.
            try first(of: turn.host.each(), until: end) { address, end throws(PostgresError) in
                try open(turn.settings + address.settings, until: end)
            }
        }
    }

    /// Tries one after another, each with an equal share of the time that is left.
    private static func first<Candidate>(
        of candidates: [Candidate], until deadline: ContinuousClock.Instant,
        _ attempt: (Candidate, ContinuousClock.Instant) throws(PostgresError) -> ConnectionHandle
    ) throws(PostgresError) -> ConnectionHandle {
        var reasons: [String] = []
        for (index, candidate) in candidates.enumerated() {
            let now = ContinuousClock.now
            let share = (deadline - now) / (candidates.count - index)
            do throws(PostgresError) {
                return try attempt(candidate, now + share)
            } catch {
                guard case .connectionFailed(let reason) = error else { throw error }
                if !reasons.contains(reason) { reasons.append(reason) }
            }
        }
        throw .connectionFailed(reasons.joined(separator: "; "))
    }

    /// Which of the servers will do, best first: as the URL says, else of several the one that can do everything.
    private static func wantedServers(
        _ given: [String: String], ofSeveral: Bool
    ) -> [[(String, String)]] {
        let name = "target_session_attrs"
        return switch given[name] {
        // As each server is tried by itself, libpq can't prefer one.
        case "prefer-standby": [[(name, "standby")], [(name, "any")]]
        case .some: [[]]
        case nil: [ofSeveral ? [(name, "primary")] : []]
        }
    }

    private static func open(
        _ settings: [(String, String)], until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> ConnectionHandle {
        guard let handle = ConnectionHandle(settings: settings) else {
            throw .connectionFailed("out of memory")
        }
        guard handle.status != CONNECTION_BAD else { throw .connectionFailed(handle.message) }
        try finishOpening(handle, until: deadline)
        guard handle.becomeNonBlocking() else { throw .connectionFailed(handle.message) }
        return handle
    }

    private static func finishOpening(
        _ handle: ConnectionHandle, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            let events: SocketEvents = next == PGRES_POLLING_WRITING ? .write : .read
            guard SocketEvents.wait(for: events, on: handle.socket, until: deadline) else {
                throw .connectionFailed("no connection within the connect timeout")
            }
            next = handle.pollConnecting()
            guard next != PGRES_POLLING_FAILED else { throw .connectionFailed(handle.message) }
        }
    }
}
