package import Ledger
package import LedgerEngine
import Postgres

/// Refolds a read model from position 0, reports how the live one differs, and repairs it.
///
/// The refold goes into a temporary table while the projector continues; only the last events, the comparison
/// and the repair happen under the checkpoint's lock, in one transaction. Readers see the old rows until it
/// commits.
package struct Rebuild: Sendable {
    /// The maximum number of attempts to catch up with a moving checkpoint before the lock is taken.
    private static let attemptsMax = 8
    /// The maximum number of events that may be left to fold under the lock.
    private static let underLockMax: Int64 = 5_000

    private let session: Postgres.Session
    private let disclosures: DisclosureReader

    /// Creates a rebuild.
    ///
    /// - Parameters:
    ///   - url: the URL of a role that may write the read models and create temporary tables.
    ///   - keyring: unwraps the keys of accounts; because the refold would lose e-mails without the right
    ///     ones, an unknown key is reported as a fault and nothing is repaired.
    package init(url: String, keyring: WrappingKeyring) {
        disclosures = DisclosureReader(keyring: keyring)
        session = Postgres.Session(
            url: url, applicationName: "account-ledger rebuild", statementDeadline: .seconds(3600)
        ) {
            try $0.execute(
                """
                SET lock_timeout = '10s'; SET jit = off;
                SET idle_in_transaction_session_timeout = '60s';
                """)
        }
    }

    /// Rebuilds a projection for every tenant, in the order of their names.
    ///
    /// - Throws: `PostgresError` when the database fails; earlier repairs remain.
    package func run(_ projection: ProjectionName) async throws -> [RebuildReport] {
        let heads = try await session.run { try AllTenants.servedHeads(on: $0) }
        var reports: [RebuildReport] = []
        for (tenant, _) in heads {
            reports.append(try await run(projection, in: tenant))
        }
        return reports
    }

    /// Rebuilds a projection for one tenant.
    ///
    /// - Throws: `PostgresError` when the database fails; the live table is then unchanged.
    package func run(
        _ projection: ProjectionName, in tenant: TenantID
    ) async throws -> RebuildReport {
        try await session.run { connection in
            try self.run(projection, in: tenant, on: connection)
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    private func run(
        _ name: ProjectionName, in tenant: TenantID, on connection: Connection
    ) throws -> RebuildReport {
        let live = try ProjectionTables.served(name, on: connection)
        let table = RefoldTable(live, on: try DatabaseEngine(of: connection))
        try connection.execute(table.creation)
        try Checkpoints.make([(tenant: tenant, table: live)], on: connection)
        var load = BulkLoad(
            name, into: table.name, hasKey: false, of: tenant, with: disclosures)
        for attempt in 1...Self.attemptsMax {
            let target = try self.checkpoint(of: live, in: tenant, .none, on: connection)
            if let fault = try load.advance(to: target.position, on: connection) {
                return report(name, tenant, load.position, fault: fault)
            }
            let finished = try finish(
                &load, table: table, live: live, tenant: tenant,
                isLastAttempt: attempt == Self.attemptsMax, on: connection)
            if let finished { return finished }
        }
        throw PostgresError.unexpectedResult(
            "the checkpoint moves faster than the log can be refolded")
    }

    /// Catches up under the lock, compares, repairs and commits; returns nil when too many events are left to
    /// fold.
    private func finish(
        _ load: inout BulkLoad, table: RefoldTable, live: ProjectionTable, tenant: TenantID,
        isLastAttempt: Bool, on connection: Connection
    ) throws -> RebuildReport? {
        let name = live.projection
        _ = try connection.query(.begin)
        defer { connection.rollBack() }
        try TenantMove.refuse(tenant, on: connection)
        let lease = try checkpoint(of: live, in: tenant, .wait, on: connection)
        guard lease.position >= load.position else {
            throw PostgresError.unexpectedResult("the checkpoint moved back during the rebuild")
        }
        let left = lease.position.value - load.position.value
        guard left <= Self.underLockMax || isLastAttempt else { return nil }
        if let fault = try load.advance(to: lease.position, on: connection) {
            return report(name, tenant, load.position, fault: fault)
        }
        var report = report(name, tenant, load.position)
        try connection.execute("ANALYZE \(table.name)")
        try table.repair(&report, on: connection)
        let step = ProjectionStep(
            table: live, rows: nil, position: load.position, failure: nil)
        _ = try connection.pipeline([Checkpoints.moveCall([step], of: tenant), Call(.commit)])
        return report
    }

    private func report(
        _ name: ProjectionName, _ tenant: TenantID, _ position: LogPosition,
        fault: LogDamage? = nil
    ) -> RebuildReport {
        var report = RebuildReport(tenant: tenant, projection: name, position: position)
        report.fault = fault
        return report
    }

    private func checkpoint(
        of table: ProjectionTable, in tenant: TenantID, _ locking: Checkpoints.Locking,
        on connection: Connection
    ) throws(PostgresError) -> Checkpoints.Checkpoint {
        let results = try connection.pipeline([
            Checkpoints.call([table], of: tenant, locking)
        ])
        guard let result = results.first,
            let found = try Checkpoints.checkpoints(result, of: [table]).first
        else {
            throw .unexpectedResult("the checkpoint is missing")
        }
        return found
    }
}
