internal import BlockingCalls

/// An actor that owns one connection on a thread of its own and replaces it when it is lost.
///
/// Connects on first use. A connection that the server ended while idle is replaced before the next
/// call, which does not notice; one that is lost during a call fails that call, and the next call
/// reconnects. A connection to a former primary counts as lost. While the server is unreachable,
/// calls fail at once with the last reason, and the server is tried again after 50 milliseconds,
/// then after twice as long each time, up to 2 seconds.
package actor Session {
    private nonisolated let executor: BlockingExecutor
    private let url: String
    private let applicationName: String
    private let connectTimeout: Duration
    private let statementDeadline: Duration
    private let runDeadline: Duration?
    private let onConnect: (@Sendable (Connection) throws -> Void)?
    private var connection: Connection?
    private var backoff = Backoff()

    /// An executor for tasks that mostly call this session: they stay on its thread.
    package nonisolated var taskExecutor: any TaskExecutor { executor }

    /// The serial executor of all calls.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Configures the session; does not connect yet.
    ///
    /// `runDeadline` limits one ``run(_:)`` with all its calls, including connecting and preparing
    /// but not the lookup of host names. `onConnect` prepares each new connection, for example with
    /// SET; if it throws, the connection is closed and counts as failed.
    package init(
        url: String, applicationName: String, connectTimeout: Duration = .seconds(5),
        statementDeadline: Duration = .seconds(10), runDeadline: Duration? = nil,
        onConnect: (@Sendable (Connection) throws -> Void)? = nil
    ) {
        executor = BlockingExecutor(label: applicationName)
        self.url = url
        self.applicationName = applicationName
        self.connectTimeout = connectTimeout
        self.statementDeadline = statementDeadline
        self.runDeadline = runDeadline
        self.onConnect = onConnect
    }

    /// Passes the connection to a body, which runs on this session's thread and is never run twice.
    ///
    /// A transaction that the body leaves open is rolled back.
    ///
    /// - Throws: `.connectionFailed` without running the body; otherwise the body's error.
    package func run<Value: Sendable>(
        _ body: @Sendable (Connection) throws -> Value
    ) throws -> Value {
        let deadline = runDeadline.map { ContinuousClock.now + $0 }
        let connection = try liveConnection(until: deadline)
        connection.deadline = deadline
        defer { settle(connection) }
        return try body(connection)
    }

    /// As ``run(_:)``, but a transaction that the body leaves open stays open for the next call.
    ///
    /// For a single caller with exclusive use of the session. A body that continues a transaction
    /// must check that it is still open: a connection that was lost in between has been replaced. `limit` is the
    /// time for all calls of the body, without connecting; nil for no limit.
    ///
    /// - Throws: as ``run(_:)``, after rolling back.
    package func step<Value: Sendable>(
        within limit: Duration? = nil, _ body: @Sendable (Connection) throws -> Value
    ) throws -> Value {
        let connection = try liveConnection(until: nil)
        connection.deadline = limit.map { .now + $0 }
        do {
            let value = try body(connection)
            replaceIfLost(connection)
            return value
        } catch {
            settle(connection)
            throw error
        }
    }

    /// Closes the connection; the next call opens a new one.
    package func close() {
        connection?.close()
        connection = nil
    }

    private func liveConnection(until deadline: ContinuousClock.Instant?) throws -> Connection {
        if let connection, !connection.isOfFormerPrimary, connection.isAlive() {
            return connection
        }
        close()
        guard backoff.permits(.now) else {
            throw backoff.reason ?? PostgresError.connectionFailed("waiting to connect again")
        }
        do {
            let fresh = try Connection(
                url: url, applicationName: applicationName, connectTimeout: connectTimeout,
                statementDeadline: statementDeadline, deadline: deadline)
            fresh.deadline = deadline
            try onConnect?(fresh)
            connection = fresh
            backoff.succeeded()
            return fresh
        } catch {
            backoff.failed(.connectionFailed(Self.reason(error)), at: .now)
            throw error
        }
    }

    /// Only errors of this module are known to contain no secrets.
    private static func reason(_ error: any Error) -> String {
        switch error as? PostgresError {
        case .connectionFailed(let reason)?: reason
        case let error?: error.description
        case nil: "the connection could not be prepared"
        }
    }

    private func settle(_ used: Connection) {
        used.rollBack()
        replaceIfLost(used)
    }

    /// Makes the next call reconnect if this connection is lost or its server takes no writes.
    ///
    /// That server may be a standby or a former primary: the URL must be resolved again.
    private func replaceIfLost(_ used: Connection) {
        if used.hasRefusedWrites {
            backoff.failed(.connectionFailed("the server takes no writes"), at: .now)
        } else if used.isUsable {
            return
        }
        close()
    }
}
