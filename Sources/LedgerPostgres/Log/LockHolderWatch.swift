import Postgres

/// Ends connections that hold locks while Postgres waits for their process.
///
/// Postgres' own limits miss them: `idle_in_transaction_session_timeout` applies only while
/// Postgres waits for a new command, `statement_timeout` only while it executes one. A process that
/// stalls while it sends a pipeline or a COPY, or reads an answer, reaches neither limit and would
/// hold a tenant's head as long as it stalls. Every process monitors the connections of all.
package final class LockHolderWatch: Sendable {
    /// The limit on a wait for a process that holds locks: the same as between two commands.
    private static let patience = Duration.seconds(2)
    /// The pause between two checks.
    private static let pause = Duration.milliseconds(500)

    // A session with a locked row has a transaction id. A COPY is one statement whose data keeps
    // arriving.
    private static let waitedFor = waitedFor("AND a.backend_xid IS NOT NULL")
    // The rows are locked on other nodes, so a session here has no transaction id.
    private static let waitedForOnCitus = waitedFor("")

    private static func waitedFor(_ condition: String) -> Statement {
        Statement(
            "holders_waited_for",
            """
            SELECT a.pid, a.query_start, coalesce(c.bytes_processed, 0) AS copied_bytes,
                a.application_name
            FROM pg_stat_activity a LEFT JOIN pg_stat_progress_copy c ON c.pid = a.pid
            WHERE a.datname = current_database() AND a.usename = current_user
                AND a.application_name = ANY ($1::text[]) AND a.state = 'active'
                AND a.wait_event_type = 'Client' \(condition)
            """)
    }

    private static let end = Statement(
        "end_holder",
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid = $1 AND query_start = $2 AND state = 'active' AND wait_event_type = 'Client'
        """)

    /// A connection that Postgres waits for, and its progress.
    private struct Wait: Hashable {
        let backend: Int32
        /// The start of the connection's latest statement.
        let begun: Int64
        let copiedBytes: Int64
    }

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Creates a watch, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL: only connections of the same login are visible.
    ///   - onFault: Called with one line, free of personal data, for each ended connection and for
    ///     the first of several failed checks.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger watch", connectTimeout: .seconds(2),
            statementDeadline: .seconds(6)
        ) { try $0.execute(ConnectionSettings.limits(idle: 2, lock: 5, statement: 5)) }
        self.onFault = onFault
    }

    /// Watches until the task is cancelled; survives outages of the database.
    package func run() async {
        var waits: [Wait: ContinuousClock.Instant] = [:]
        var hasFailed = false
        while !Task.isCancelled {
            do {
                waits = try await endStalled(after: waits)
                hasFailed = false
            } catch {
                if !hasFailed { onFault("reading stalled connections failed: \(error)") }
                hasFailed = true
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await session.close()
    }

    /// Ends connections that have stalled for too long.
    ///
    /// - Returns: The connections that are waited for, each with the start of the wait.
    private func endStalled(
        after before: [Wait: ContinuousClock.Instant]
    ) async throws -> [Wait: ContinuousClock.Instant] {
        try await session.run { [onFault] connection in
            let now = ContinuousClock.now
            let rows = try connection.query(
                try DatabaseEngine(of: connection) == .citus
                    ? Self.waitedForOnCitus : Self.waitedFor,
                [.texts(LockHolderName.allCases.map(\.rawValue))])
            var waits: [Wait: ContinuousClock.Instant] = [:]
            for row in 0..<rows.rowCount {
                let wait = Wait(
                    backend: try rows.int4(row, rows.column("pid")),
                    begun: try rows.timestamp(row, rows.column("query_start")),
                    copiedBytes: try rows.int8(row, rows.column("copied_bytes")))
                let since = before[wait] ?? now
                guard now - since >= Self.patience else {
                    waits[wait] = since
                    continue
                }
                let ended = try connection.query(
                    Self.end, [.int4(wait.backend), .timestamp(wait.begun)])
                guard ended.rowCount > 0 else { continue }
                onFault(
                    "ended a stalled connection that held locks: \(try rows.text(row, rows.column("application_name")))"
                )
            }
            return waits
        }
    }
}
