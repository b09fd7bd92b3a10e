internal import CLibPQ

extension Connection {
    /// The longest single wait on an encrypted socket, since a record may be read but not yet
    /// delivered.
    private static let encryptedWaitMax = Duration.milliseconds(100)
    /// The number of reads of an encrypted socket after a wait, to drain a record of 16 KiB.
    private static let encryptedReads = 3

    /// The time at which a call that starts now is abandoned.
    var callDeadline: ContinuousClock.Instant {
        let own = ContinuousClock.now + statementDeadline
        return deadline.map { min($0, own) } ?? own
    }

    /// Writes queued data and reads incoming data until the next result is available.
    func awaitResult(
        _ handle: ConnectionHandle, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        while handle.isBusy {
            try exchange(handle, until: deadline)
            // Stops at a result, which may be the server's last message: further reading would find
            // the end of the connection, and libpq would discard the message.
            drainRecord(handle) { handle.isBusy }
        }
    }

    /// Waits for the socket once, then reads.
    func exchange(
        _ handle: ConnectionHandle, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        guard handle.status == CONNECTION_OK else { throw lostConnection(handle) }
        let unsent = handle.flush()
        guard unsent >= 0 else { throw lostConnection(handle) }
        let events: SocketEvents = unsent == 0 ? .read : [.read, .write]
        let isEncrypted = handle.isEncrypted
        let until = isEncrypted ? min(deadline, .now + Self.encryptedWaitMax) : deadline
        let isReady = SocketEvents.wait(for: events, on: handle.socket, until: until)
        guard isReady || until < deadline else {
            close()
            throw .timedOut
        }
        guard handle.consumeInput() else { throw lostConnection(handle) }
    }

    /// Reads the rest of a record from the encryption layer, since the socket does not signal it.
    ///
    /// A failure here is left to the next exchange.
    func drainRecord(_ handle: ConnectionHandle, while condition: () -> Bool) {
        guard handle.isEncrypted else { return }
        for _ in 1..<Self.encryptedReads where handle.status == CONNECTION_OK && condition() {
            _ = handle.consumeInput()
        }
    }

    /// Closes a broken connection and returns libpq's description of the failure.
    func lostConnection(_ handle: ConnectionHandle) -> PostgresError {
        let reason = handle.message
        close()
        return .connectionLost(reason)
    }

    /// Closes a connection after an unexpected reply.
    func unexpectedReply(_ reason: String) -> PostgresError {
        close()
        return .connectionLost(reason)
    }

    /// Converts a failed result to its error; closes the connection if the error ended it.
    func refusal(
        from result: QueryResult, callIndex: Int? = nil, handle: ConnectionHandle
    ) throws(PostgresError) -> ServerError {
        // An error without a code comes from libpq, not from the server.
        guard let code = result.errorField(.state) else { throw lostConnection(handle) }
        let state = SQLState(rawValue: code)
        let severity = result.errorField(.severity) ?? "ERROR"
        let message = result.errorField(.message) ?? "no message"
        if state == .readOnlyTransaction { hasRefusedWrites = true }
        guard severity == "ERROR" else {
            throw unexpectedReply("\(severity) \(state): \(message)")
        }
        return ServerError(
            state: state, severity: severity,
            message: ServerError.withoutValue(message, state: state),
            constraint: result.errorField(.constraint), table: result.errorField(.table),
            callIndex: callIndex)
    }
}
