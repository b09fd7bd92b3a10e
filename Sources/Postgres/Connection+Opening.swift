internal import CLibPQ

extension Connection {
    /// Settings that a URL may override.
    private static let defaults = [
        "keepalives": "1", "keepalives_idle": "5", "keepalives_interval": "2",
        "keepalives_count": "3",
        // Milliseconds until unacknowledged data ends the connection: a server that vanished is
        // noticed within seconds instead of TCP's default of a quarter of an hour.
        "tcp_user_timeout": "5000",
    ]

    /// The libpq setting for the role that a server must have.
    private static let targetSessionAttributes = "target_session_attrs"

    /// Returns the URL's own connect timeout; nil if it has none or, as in libpq, one of 0 or less.
    static func connectTimeout(of url: String) -> Duration? {
        let seconds = ConnectionHandle.parse(url)?["connect_timeout"].flatMap { Int32($0) }
        return seconds.flatMap { $0 > 0 ? .seconds($0) : nil }
    }

    /// Connects to one of the servers in the URL, and deducts the time this takes from `timeLeft`.
    ///
    /// libpq tries the next host or address when one refuses, but not when one is silent, such as
    /// the machine of a failed primary after another host has taken over. Each is therefore tried
    /// separately, with an equal share of the remaining time. Unless the URL says otherwise, the
    /// primary is chosen among several hosts, and preferred among several addresses of one name.
    /// `admit` may refuse one of several hosts by throwing `.connectionFailed`.
    static func open(
        url: String, applicationName: String, within timeLeft: inout Duration,
        lookingUpBy lookUp: (String) throws(PostgresError) -> [String] = HostName.addresses,
        admit: (ConnectionHandle, inout Duration) throws(PostgresError) -> Void = { _, _ in }
    ) throws(PostgresError) -> ConnectionHandle {
        // A URL that libpq cannot parse is refused here, because libpq's own message would quote
        // the password.
        guard !url.utf8.contains(0), let given = ConnectionHandle.parse(url),
            !ServerAddress.isMisread(given)
        else { throw .connectionFailed("the connection URL cannot be parsed") }
        var settings = defaults.merging(given) { $1 }
        settings["application_name"] = applicationName
        settings["client_encoding"] = "UTF8"
        var servers = ServerAddress.each(in: given)
        guard let alone = servers.first else { return try open(settings, within: &timeLeft) }
        for name in ServerAddress.names { settings[name] = nil }
        let areHosts = servers.count > 1
        if !areHosts { servers = try alone.each(addressesOf: lookUp) }
        var prefersStandby: Bool?
        switch given[Self.targetSessionAttributes] {
        // libpq cannot prefer a server, since each is tried separately.
        case "prefer-standby":
            settings[Self.targetSessionAttributes] = "any"
            prefersStandby = true
        case nil where areHosts:
            settings[Self.targetSessionAttributes] = "primary"
        // All of the addresses may belong to one standby.
        case nil where servers.count > 1:
            prefersStandby = false
        default: break
        }
        // Time to prepare the second choice when the last of the others is silent.
        let reserve = prefersStandby == nil ? .zero : timeLeft / 4
        timeLeft -= reserve
        defer { timeLeft += reserve }
        var fallback: ConnectionHandle?
        do throws(PostgresError) {
            return try first(of: servers, within: &timeLeft) {
                server, timeLeft throws(PostgresError) in
                // A name is looked up only when it is tried, since a lookup may take long.
                let addresses = try server.each(addressesOf: lookUp)
                return try first(of: addresses, within: &timeLeft) {
                    address, timeLeft throws(PostgresError) in
                    let handle = try open(
                        settings.merging(address.settings) { $1 }, within: &timeLeft)
                    if let prefersStandby, handle.isStandby != prefersStandby {
                        fallback = fallback ?? handle
                        throw .connectionFailed("the server is not the preferred one")
                    }
                    if areHosts { try admit(handle, &timeLeft) }
                    return handle
                }
            }
        } catch {
            guard let fallback else { throw error }
            // Not admitted: a URL that prefers standbys accepts old data.
            return fallback
        }
    }

    /// Tries the candidates in order, each with an equal share of the remaining time.
    private static func first<Candidate>(
        of candidates: [Candidate], within timeLeft: inout Duration,
        _ attempt: (Candidate, inout Duration) throws(PostgresError) -> ConnectionHandle
    ) throws(PostgresError) -> ConnectionHandle {
        var reasons: [String] = []
        for (index, candidate) in candidates.enumerated() {
            let share = timeLeft / (candidates.count - index)
            var left = share
            defer { timeLeft -= share - left }
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
        _ settings: [String: String], within timeLeft: inout Duration
    ) throws(PostgresError) -> ConnectionHandle {
        let start = ContinuousClock.now
        let deadline = start + timeLeft
        defer { timeLeft -= ContinuousClock.now - start }
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
