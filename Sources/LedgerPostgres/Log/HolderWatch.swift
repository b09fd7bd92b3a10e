import Postgres

/// Ends connections that hold locks while Postgres waits for their process.
///
/// Postgres' own limits do not see them: `idle_in_transaction_session_timeout` runs only while Postgres
/// waits for a new command, `statement_timeout` only takes effect while it works on one. A process that
/// stands still in the middle of sending a pipeline or a COPY, or of reading an answer, runs into
/// neither, and would hold the head of a tenant for as long as it stands. Every process looks after the
/// connections of all.
package final class HolderWatch: Sendable {
    /// How long Postgres may wait for a process that holds something: as long as between two commands.
    private static let patience = Duration.seconds(2)
    /// How long the watch rests between two looks.
    private static let pause = Duration.milliseconds(500)

    // Who holds a row has a transaction id. A COPY is one statement, of which more comes in.
    private static let waitedFor = Statement(
        "holders_waited_for",
        """
        SELECT a.pid, a.query_start, coalesce(c.bytes_processed, 0), a.application_name
        FROM pg_stat_activity a LEFT JOIN pg_stat_progress_copy c ON c.pid = a.pid
        WHERE a.datname = current_database() AND a.usename = current_user
            AND a.application_name = ANY ($1::text[]) AND a.state = 'active'
            AND a.wait_event_type = 'Client' AND a.backend_xid IS NOT NULL
        """)

    private static let end = Statement(
        "end_holder",
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE pid = $1 AND query_start = $2 AND state = 'active' AND wait_event_type = 'Client'
        """)

    /// A connection that Postgres waits for, and how far it had come.
    private struct Wait: Hashable {
        let backend: Int32
        /// When the statement began that was last heard of.
        let begun: Int64
        let copiedBytes: Int64
    }

    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Makes a watch; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL: only connections of the same login are seen.
    ///   - onFault: called with one line, free of personal data, for each connection that was ended and
    ///     for the first of several looks that failed.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger watch", connectTimeout: .seconds(2),
            statementDeadline: .seconds(6)
        ) { try $0.execute(ConnectionSettings.limits(idle: 2, lock: 5, statement: 5)) }
        self.onFault = onFault
    }

    /// Watches until the task is cancelled; survives a database that goes away and comes back.
    package func run() async {
        var waits: [Wait: ContinuousClock.Instant] = [:]
        var hasFailed = false
        while !Task.isCancelled {
            do {
                waits = try await look(after: waits)
                hasFailed = false
            } catch {
                if !hasFailed { onFault("connections that stand still cannot be seen: \(error)") }
                hasFailed = true
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await session.close()
    }

    /// Ends what has been waited for too long.
    ///
    /// - Returns: what is waited for, and since when.
    private func look(
        after before: [Wait: ContinuousClock.Instant]
    ) async throws -> [Wait: ContinuousClock.Instant] {
        try await session.run { [onFault] connection in
            let now = ContinuousClock.now
            let rows = try connection.query(
                Self.waitedFor, [.texts(HolderName.allCases.map(\.rawValue))])
            var waits: [Wait: ContinuousClock.Instant] = [:]
            for row in 0..<rows.rowCount {
                let wait = Wait(
                    backend: try rows.int4(row, 0), begun: try rows.timestamp(row, 1),
                    copiedBytes: try rows.int8(row, 2))
                let since = before[wait] ?? now
                guard now - since >= Self.patience else {
                    waits[wait] = since
                    continue
                }
                let ended = try connection.query(
                    Self.end, [.int4(wait.backend), .timestamp(wait.begun)])
                guard ended.rowCount > 0 else { continue }
                onFault(
                    "ended a connection that held locks and stood still: \(try rows.text(row, 3))")
            }
            return waits
        }
    }
}
