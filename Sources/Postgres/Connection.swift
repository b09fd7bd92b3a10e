internal import CLibPQ

/// One connection to Postgres, closed on deinitialization.
///
/// Each call blocks the calling thread until it completes or its deadline passes. Underneath, libpq
/// runs in non-blocking mode with `poll(2)`: a frozen server cannot hold the caller, and a large
/// pipeline cannot deadlock, because it is read while it is written.
package final class Connection {
    /// The time limit of one call, including all its round trips; a migration may raise it.
    ///
    /// When it passes, the connection is only closed: the server may continue the statement until
    /// it notices. With a shorter `statement_timeout` the server itself reports how the statement
    /// ended.
    package var statementDeadline: Duration
    /// The time at which any call is abandoned, regardless of its start.
    var deadline: ContinuousClock.Instant?

    private var handle: ConnectionHandle?
    var encoding = EncodedCalls()
    var prepared = PreparedStatements()
    var isInPipelineMode = false
    /// Whether the server has refused to write anything in a transaction, as a standby does.
    var hasRefusedWrites = false
    /// The timeline of the chosen one of several hosts; nil for a single one, and for a standby.
    var timeline: Timeline?
    /// The extensions asked for so far, and whether the database has them.
    private var extensions: [String: Bool] = [:]

    /// Connects within the connect timeout, which covers all hosts of the URL together.
    ///
    /// A `connect_timeout` of the URL, in seconds, takes precedence over the argument, and the
    /// deadline over both. The system's lookup of host names is not covered by either.
    ///
    /// - Throws: `.connectionFailed`; its text never contains the URL or the password.
    package init(
        url: String, applicationName: String, connectTimeout: Duration = .seconds(5),
        statementDeadline: Duration = .seconds(10), deadline limit: ContinuousClock.Instant? = nil
    ) throws(PostgresError) {
        self.statementDeadline = statementDeadline
        var timeLeft = Self.connectTimeout(of: url) ?? connectTimeout
        if let limit { timeLeft = min(timeLeft, ContinuousClock.now.duration(to: limit)) }
        handle = try Self.open(
            url: url, applicationName: applicationName, within: &timeLeft,
            admit: { candidate, timeLeft throws(PostgresError) in
                try admit(candidate, within: &timeLeft)
            })
        deadline = .now + timeLeft
        defer { deadline = nil }
        do throws(PostgresError) {
            try execute(Self.initialSettings)
        } catch {
            throw .connectionFailed("\(error)")
        }
    }

    /// Begins anew with another handle, or none.
    func use(_ candidate: ConnectionHandle?) {
        handle = candidate
        encoding = EncodedCalls()
        prepared = PreparedStatements()
        isInPipelineMode = false
        timeline = nil
    }

    /// Closes the connection and abandons any call in flight.
    ///
    /// Closing twice is harmless.
    package func close() {
        handle = nil
    }

    /// Whether the connection accepts another call, to the best of this side's knowledge.
    package var isUsable: Bool { handle?.status == CONNECTION_OK }

    /// Whether a transaction is open, including a failed one.
    package var isInTransaction: Bool {
        guard let handle else { return false }
        return handle.transactionStatus != PQTRANS_IDLE
    }

    /// The server's version as a number: 150020 is 15.20; 0 once the connection is closed.
    package var serverVersion: Int { Int(handle?.serverVersion ?? 0) }

    /// The process id of the server's backend, with which an operator can end it; 0 once closed.
    package var backendProcessID: Int32 { handle?.backendProcessID ?? 0 }

    /// Checks whether the server is still there without sending anything.
    ///
    /// An idle connection that the server has ended is readable, and reading reveals the end. Call
    /// it between calls only.
    package func isAlive() -> Bool {
        guard let handle, isUsable else { return false }
        for _ in 0..<16 {
            guard SocketEvents.isReadable(handle.socket) else { return true }
            guard handle.consumeInput() else { break }
            // Lets libpq process notices and changed settings, which do not mean that the
            // connection has ended.
            _ = handle.isBusy
            guard handle.status == CONNECTION_OK else { break }
        }
        close()
        return false
    }

    /// Whether the database has an extension, looked up once for the connection.
    ///
    /// - Throws: As `query`.
    package func hasExtension(_ name: String) throws(PostgresError) -> Bool {
        if let known = extensions[name] { return known }
        let found = try query(Self.hasExtension, [.text(name)]).bool(0, 0)
        extensions[name] = found
        return found
    }

    private static let hasExtension = Statement(
        "has_extension",
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = $1)")

    /// Returns the handle, or throws if the connection is closed.
    func openHandle() throws(PostgresError) -> ConnectionHandle {
        guard let handle else { throw .connectionLost("the connection was closed earlier") }
        return handle
    }
}

// A libpq handle serves one thread at a time and nothing here locks it; a `Session` confines it.
@available(*, unavailable)
extension Connection: Sendable {}
