internal import CLibPQ

extension Connection {
    /// Settings that a URL may override.
    private static let defaults = [
        "keepalives": "1", "keepalives_idle": "5", "keepalives_interval": "2",
        "keepalives_count": "3",
        // Milliseconds until unacknowledged data ends the connection: a server that vanished is
        // noticed in seconds, not in the quarter of an hour that TCP takes by itself.
        "tcp_user_timeout": "5000",
    ]

    /// libpq's setting for what a server of several has to be.
    private static let wantedServer = "target_session_attrs"

    /// Connects to one of the servers that the URL names, and takes the time for it from `patience`.
    ///
    /// libpq tries the next host or address when one refuses, but not when one is silent: such as the
    /// machine of a primary that is gone, while the next host has taken over. So each is tried by itself,
    /// with an equal share of the time that is left. Of several hosts the primary is taken, of several addresses
    /// of one name the primary if there is one, unless the URL says otherwise.
    static func open(
        url: String, applicationName: String, within patience: inout Duration,
        lookingUpBy lookUp: (String) throws(PostgresError) -> [String] = HostName.addresses
    ) throws(PostgresError) -> ConnectionHandle {
        // What libpq cannot parse is refused here, because its own message would quote the
        // password.
        guard !url.utf8.contains(0), let given = ConnectionHandle.parse(url),
            !ServerAddress.isMisread(given)
        else { throw .connectionFailed("the connection URL cannot be parsed") }
        var settings = defaults.merging(given) { $1 }
        settings["application_name"] = applicationName
        settings["client_encoding"] = "UTF8"
        var servers = ServerAddress.each(in: given)
        guard let alone = servers.first else { return try open(settings, within: &patience) }
        for name in ServerAddress.names { settings[name] = nil }
        let areHosts = servers.count > 1
        if !areHosts { servers = try alone.each(addressesOf: lookUp) }
        var prefersStandby: Bool?
        switch given[Self.wantedServer] {
        // As each server is tried by itself, libpq can't prefer one.
        case "prefer-standby":
            settings[Self.wantedServer] = "any"
            prefersStandby = true
        case nil where areHosts:
            settings[Self.wantedServer] = "primary"
        // They may all be of one standby.
        case nil where servers.count > 1:
            prefersStandby = false
        default: break
        }
        // What the second best is prepared in, when the last of the others is silent.
        let reserve = prefersStandby == nil ? .zero : patience / 4
        patience -= reserve
        defer { patience += reserve }
        var secondBest: ConnectionHandle?
        do throws(PostgresError) {
            return try first(of: servers, within: &patience) {
                server, patience throws(PostgresError) in
                // A name is looked up when it is its turn, since that may take long.
                let addresses = try server.each(addressesOf: lookUp)
                return try first(of: addresses, within: &patience) {
                    address, patience throws(PostgresError) in
                    let handle = try open(
                        settings.merging(address.settings) { $1 }, within: &patience)
                    if let prefersStandby, handle.isStandby != prefersStandby {
                        secondBest = secondBest ?? handle
                        throw .connectionFailed("a server that is not preferred")
                    }
                    return handle
                }
            }
        } catch {
            guard let secondBest else { throw error }
            return secondBest
        }
    }

    /// Tries one after another, each with an equal share of the time that is left.
    private static func first<Candidate>(
        of candidates: [Candidate], within patience: inout Duration,
        _ attempt: (Candidate, inout Duration) throws(PostgresError) -> ConnectionHandle
    ) throws(PostgresError) -> ConnectionHandle {
        var reasons: [String] = []
        for (index, candidate) in candidates.enumerated() {
            let share = patience / (candidates.count - index)
            var left = share
            defer { patience -= share - left }
            do throws(PostgresError) {
                return try attempt(candidate, &left)
            } catch {
                guard case .connectionFailed(let reason) = error else { throw error }
                if !reasons.contains(reason) { reasons.append(reason) }
            }
        }
        throw .connectionFailed(reasons.joined(separator: "; "))
    }

    private static func open(
        _ settings: [String: String], within patience: inout Duration
    ) throws(PostgresError) -> ConnectionHandle {
        let start = ContinuousClock.now
        let deadline = start + patience
        defer { patience -= ContinuousClock.now - start }
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
