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
        // libpq tries the next host when one refuses, but not when one is silent: such as the machine of a
        // primary that is gone, while the next host has taken over.
        var hosts = ServerAddress.each(in: given)
        guard hosts.count > 1 else { return try open(settings, until: deadline) }
        // Of several, one is meant that can do everything, unless the URL says otherwise.
        let wanted =
            given["target_session_attrs"] == nil ? [("target_session_attrs", "primary")] : []
        while true {
            let host = hosts.removeFirst()
            let now = ContinuousClock.now
            do throws(PostgresError) {
                return try open(
                    settings + wanted + host.settings,
                    until: now + (deadline - now) / (hosts.count + 1))
            } catch {
                if hosts.isEmpty { throw error }
            }
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
