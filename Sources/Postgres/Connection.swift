internal import CLibPQ

/// One connection to Postgres; closes it when it goes.
///
/// Each call blocks the calling thread until it is done or its deadline has passed. Underneath,
/// libpq runs in non-blocking mode with `poll(2)`, so a frozen server cannot hold the caller, and a
/// large pipeline cannot deadlock: it is read while it is written.
package final class Connection {
    /// How long one call may take, all its round trips included; a migration may raise it.
    ///
    /// Closing is all that happens here when it passes: the server may go on with the statement until it
    /// notices. With a shorter `statement_timeout` it says itself how the statement ended.
    package var statementDeadline: Duration
    /// When a call is given up at the latest, whenever it began.
    var deadline: ContinuousClock.Instant?

    private var handle: ConnectionHandle?
    var encoding = EncodedCalls()
    var prepared = PreparedStatements()
    var isInPipelineMode = false
    /// Whether the server has refused to write anything in a transaction, as a standby does.
    var hasRefusedWrites = false

    /// Connects, waiting no longer than the connect timeout for all hosts of the URL together.
    ///
    /// Looking up host names is the system's business and is not under the timeout.
    ///
    /// - Throws: `.connectionFailed`; its text never holds the URL or the password.
    package init(
        url: String, applicationName: String, connectTimeout: Duration = .seconds(5),
        statementDeadline: Duration = .seconds(10)
    ) throws(PostgresError) {
        self.statementDeadline = statementDeadline
        var patience = connectTimeout
        handle = try Self.open(url: url, applicationName: applicationName, within: &patience)
        deadline = .now + patience
        defer { deadline = nil }
        do throws(PostgresError) {
            try execute(Self.firstSettings)
        } catch {
            throw .connectionFailed("\(error)")
        }
    }

    /// Closes the connection and abandons what was in flight.
    ///
    /// Closing twice is harmless.
    package func close() {
        handle = nil
    }

    /// Whether the connection can take another call, as far as is known without asking the server.
    package var isUsable: Bool { handle?.status == CONNECTION_OK }

    /// Whether a transaction is open, a failed one included.
    package var isInTransaction: Bool {
        guard let handle else { return false }
        return handle.transactionStatus != PQTRANS_IDLE
    }

    /// The server's version as a number: 150020 is 15.20; 0 once the connection is closed.
    package var serverVersion: Int { Int(handle?.serverVersion ?? 0) }

    /// The process id of the server's backend, by which an operator ends it; 0 once closed.
    package var backendProcessID: Int32 { handle?.backendProcessID ?? 0 }

    /// Whether the server is still there, found out without sending anything.
    ///
    /// An idle connection that the server has ended is readable; reading it tells. To be asked
    /// between calls only.
    package func isAlive() -> Bool {
        guard let handle, isUsable else { return false }
        for _ in 0..<16 {
            guard SocketEvents.isReadable(handle.socket) else { return true }
            guard handle.consumeInput() else { break }
            // Lets libpq take in notices and changed settings, which are no sign of death.
            _ = handle.isBusy
            guard handle.status == CONNECTION_OK else { break }
        }
        close()
        return false
    }

    /// The handle, or the error of a connection that is closed.
    func openHandle() throws(PostgresError) -> ConnectionHandle {
        guard let handle else { throw .connectionLost("the connection was closed earlier") }
        return handle
    }
}

// A libpq handle serves one thread at a time and nothing here locks it; a `Session` confines it.
@available(*, unavailable)
extension Connection: Sendable {}
