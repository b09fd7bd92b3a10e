internal import CLibPQ

extension Connection {
    /// How long one wait on an encrypted socket lasts, since a record may lie read but undelivered.
    private static let encryptedWaitMax = Duration.milliseconds(100)
    /// How often an encrypted socket is read after a wait, to drain a record of 16 KiB.
    private static let encryptedReads = 3

    /// The moment at which a call that starts now is given up.
    var callDeadline: ContinuousClock.Instant {
        let own = ContinuousClock.now + statementDeadline
        return deadline.map { min($0, own) } ?? own
    }

    /// Writes what is queued and reads what has come, until the next result can be had at once.
    func awaitResult(
        _ handle: ConnectionHandle, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        while handle.isBusy {
            try exchange(handle, until: deadline)
            // Stops at a result, which may be the server's last words: reading on would find the
            // end of the connection, and libpq would forget them.
            drainRecord(handle) { handle.isBusy }
        }
    }

    /// Waits for the socket once, then reads.
    func exchange(
        _ handle: ConnectionHandle, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        guard handle.status == CONNECTION_OK else { throw lost(handle) }
        let unsent = handle.flush()
        guard unsent >= 0 else { throw lost(handle) }
        let events: SocketEvents = unsent == 0 ? .read : [.read, .write]
        let isEncrypted = handle.isEncrypted
        let until = isEncrypted ? min(deadline, .now + Self.encryptedWaitMax) : deadline
        let isReady = SocketEvents.wait(for: events, on: handle.socket, until: until)
        guard isReady || until < deadline else {
            close()
            throw .timedOut
        }
        guard handle.consumeInput() else { throw lost(handle) }
    }

    /// Reads what the encryption layer still holds of a record, since the socket will not tell of
    /// it.
    ///
    /// A failure here is left to the next exchange.
    func drainRecord(_ handle: ConnectionHandle, while condition: () -> Bool) {
        guard handle.isEncrypted else { return }
        for _ in 1..<Self.encryptedReads where handle.status == CONNECTION_OK && condition() {
            _ = handle.consumeInput()
        }
    }

    /// Closes a broken connection and says what libpq knows about it.
    func lost(_ handle: ConnectionHandle) -> PostgresError {
        let reason = handle.message
        close()
        return .connectionLost(reason)
    }

    /// Closes a connection whose answers make no sense any more.
    func confused(_ reason: String) -> PostgresError {
        close()
        return .connectionLost(reason)
    }

    /// Turns a failed result into its error; what ends the connection also closes it.
    func refusal(
        from result: QueryResult, callIndex: Int? = nil, handle: ConnectionHandle
    ) throws(PostgresError) -> ServerError {
        // Without a code it is libpq that speaks, not the server.
        guard let code = result.errorField(.state) else { throw lost(handle) }
        let state = SQLState(rawValue: code)
        let severity = result.errorField(.severity) ?? "ERROR"
        let message = result.errorField(.message) ?? "no message"
        if state == .readOnlyTransaction { hasRefusedWrites = true }
        guard severity == "ERROR" else {
            throw confused("\(severity) \(state): \(message)")
        }
        return ServerError(
            state: state, severity: severity,
            message: ServerError.withoutValue(message, state: state),
            constraint: result.errorField(.constraint), table: result.errorField(.table),
            callIndex: callIndex)
    }
}
