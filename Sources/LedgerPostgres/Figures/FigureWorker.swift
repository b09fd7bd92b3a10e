package import Ledger
import Postgres

/// Counts the events of each day and type, for overviews.
///
/// Several processes may each run one: a tenant whose row is locked is left to the process that holds it.
package final class FigureWorker: Sendable {
    /// The name of the figures for `account-ledger rebuild`.
    package static let name = "figures"
    /// The maximum number of events that one transaction counts.
    package static let eventsMax: Int64 = 20_000

    private static let begin = Statement("figures_begin", "BEGIN")

    private static let make = Statement(
        "make_figure_head",
        """
        INSERT INTO figure_heads (tenant_id, next_position) VALUES ($1, 0)
        ON CONFLICT (tenant_id) DO NOTHING
        """)

    private static let lease = Statement(
        "lease_figures",
        "SELECT next_position FROM figure_heads WHERE tenant_id = $1 FOR UPDATE SKIP LOCKED")

    private static let lock = Statement(
        "lock_figures", "SELECT next_position FROM figure_heads WHERE tenant_id = $1 FOR UPDATE")

    private static let head = Statement(
        "figures_log_head", "SELECT next_position FROM ledger_head WHERE tenant_id = $1")

    private static let add = Statement(
        "add_figures",
        """
        INSERT INTO daily_figures AS f (tenant_id, day, type, events)
        SELECT e.tenant_id, to_char(e.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), e.type, count(*)
        FROM events e
        WHERE e.tenant_id = $1 AND e.position >= $2 AND e.position < $3
        GROUP BY 1, 2, 3
        ON CONFLICT (tenant_id, day, type) DO UPDATE SET events = f.events + excluded.events
        """)

    private static let move = Statement(
        "move_figures", "UPDATE figure_heads SET next_position = $2 WHERE tenant_id = $1")

    private static let clear = Statement(
        "clear_figures", "DELETE FROM daily_figures WHERE tenant_id = $1")

    private let session: Postgres.Session
    private let pause: Duration
    private let onFault: @Sendable (String) -> Void

    /// Creates a worker, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - pause: The pause between two rounds.
    ///   - onFault: Called with one line, free of personal data, for each failed round.
    package init(
        url: String, pause: Duration = .seconds(2),
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        session = Postgres.Session(url: url, applicationName: "account-ledger figures") {
            // A count that a crash takes back is counted again, so no commit waits for the disk.
            try $0.execute(
                """
                \(ConnectionSettings.oneConnectionPerNode)
                SET jit = off; SET idle_in_transaction_session_timeout = '10s';
                SET synchronous_commit = off
                """)
        }
        self.pause = pause
        self.onFault = onFault
    }

    /// Counts until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do {
                while try await round(), !Task.isCancelled {}
            } catch {
                onFault("counting events failed: \(error)")
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: pause)
        }
        await session.close()
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// Counts one step of each tenant's log.
    ///
    /// - Returns: Whether a tenant has further events.
    package func round() async throws -> Bool {
        let behind = try await session.run { connection in
            let rows = try connection.query(AllTenants.figuresBehind)
            var behind: [TenantID] = []
            for row in 0..<rows.rowCount {
                guard let tenant = TenantID(try rows.text(row, rows.column("tenant_id"))) else {
                    continue
                }
                if try rows.bool(row, rows.column("is_new")) {
                    _ = try connection.query(Self.make, [.text(tenant.description)])
                }
                behind.append(tenant)
            }
            return behind
        }
        var hasMore = false
        for tenant in behind where !Task.isCancelled {
            let isBehind = try await session.run { try Self.step(of: tenant, Self.lease, on: $0) }
            hasMore = isBehind || hasMore
        }
        return hasMore
    }

    /// Counts the log of a tenant, or of every one, again from its beginning.
    ///
    /// - Returns: The numbers of counted events.
    package func rebuild(_ tenant: TenantID?) async throws -> [(tenant: TenantID, size: Int64)] {
        let tenants =
            if let tenant { [tenant] } else {
                try await session.run { try AllTenants.servedHeads(on: $0) }.map(\.tenant)
            }
        var counted: [(tenant: TenantID, size: Int64)] = []
        for tenant in tenants {
            let name = [Parameter.text(tenant.description)]
            try await session.run { connection in
                try connection.transaction(Self.begin) {
                    try TenantMove.refuse(tenant, on: connection)
                    _ = try connection.query(Self.make, name)
                    _ = try connection.query(Self.lock, name)
                    _ = try connection.query(Self.clear, name)
                    _ = try connection.query(Self.move, name + [.int8(0)])
                }
            }
            while try await session.run({ try Self.step(of: tenant, Self.lock, on: $0) }) {}
            let size = try await session.run { connection in
                try connection.query(Self.lock, name).int8(0, 0)
            }
            counted.append((tenant: tenant, size: size))
        }
        return counted
    }

    /// Counts a step of a tenant's log; returns whether further events follow.
    private static func step(
        of tenant: TenantID, _ lock: Statement, on connection: Connection
    ) throws -> Bool {
        try connection.transaction(begin) {
            let name = [Parameter.text(tenant.description)]
            // The head is read by a statement after the lock.
            let results = try connection.pipeline([Call(lock, name), Call(head, name)])
            let (locked, heads) = (results[0], results[1])
            guard locked.rowCount == 1 else { return false }
            var start = try locked.int8(0, 0)
            // Events below the current head are visible to every later statement.
            let end = heads.rowCount == 1 ? try heads.int8(0, 0) : 0
            if start > end {
                // The log was restored to an earlier state.
                _ = try connection.query(clear, name)
                start = 0
            }
            let next = min(end, start + eventsMax)
            let counting = Call(add, name + [.int8(start), .int8(next)])
            _ = try connection.pipeline(
                (start < next ? [counting] : []) + [Call(move, name + [.int8(next)])])
            return next < end
        }
    }
}
