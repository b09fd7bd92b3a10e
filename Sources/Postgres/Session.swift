/// An actor that owns one connection on a thread of its own, and replaces it when it is lost.
///
/// Connects when it is first used. A connection that the server ended while idle is replaced before
/// the next call, which does not notice; one that is lost during a call fails that call, and the
/// next one connects anew. While the server cannot be reached, calls fail at once with the last
/// reason, and the server is tried again after 50 milliseconds, then twice as long, up to 2
/// seconds.
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

    /// For tasks that do little but call this session: they stay on its thread then.
    package nonisolated var taskExecutor: any TaskExecutor { executor }

    /// The executor that all calls run on, one after another.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Describes the connection to make; nothing is connected yet.
    ///
    /// `runDeadline` is how long one ``run(_:)`` may take with all its calls, connecting and preparing
    /// included; looking up host names is not under it. `onConnect` prepares each new connection, for
    /// example by SET; when it throws, the connection is closed and counts as failed.
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

    /// Lends the connection to a body, which runs on this session's thread and is never run twice.
    ///
    /// A transaction that the body leaves open is rolled back.
    ///
    /// - Throws: `.connectionFailed` without running the body; else what the body throws.
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
    /// For one caller that has the session to itself. A body that goes on with a transaction has to
    /// see whether it is still open: a connection that was lost in between has been replaced.
    ///
    /// - Throws: as ``run(_:)``, after rolling back.
    package func step<Value: Sendable>(
        _ body: @Sendable (Connection) throws -> Value
    ) throws -> Value {
        let connection = try liveConnection(until: nil)
        connection.deadline = nil
        do {
            let value = try body(connection)
            replaceIfLost(connection)
            return value
        } catch {
            settle(connection)
            throw error
        }
    }

    /// Closes the connection; the next call makes a new one.
    package func close() {
        connection?.close()
        connection = nil
    }

    private func liveConnection(until deadline: ContinuousClock.Instant?) throws -> Connection {
        if let connection, connection.isAlive() { return connection }
        close()
        guard backoff.permits(.now) else {
            throw backoff.reason ?? PostgresError.connectionFailed("waiting to connect again")
        }
        do {
            let left = deadline.map { ContinuousClock.now.duration(to: $0) }
            let fresh = try Connection(
                url: url, applicationName: applicationName,
                connectTimeout: min(connectTimeout, left ?? connectTimeout),
                statementDeadline: statementDeadline)
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

    /// Only errors of this module are known to hold no secrets.
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

    /// Has the next call connect anew when this connection is lost, or leads where nothing can be written.
    ///
    /// The latter may be a standby, or a primary of yesterday: where the URL leads now has to be asked again.
    private func replaceIfLost(_ used: Connection) {
        if used.hasRefusedWrites {
            backoff.failed(.connectionFailed("the server takes no writes"), at: .now)
        } else if used.isUsable {
            return
        }
        close()
    }
}
