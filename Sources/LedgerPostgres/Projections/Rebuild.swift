package import Ledger
import Postgres

/// Refolds a read model from position 0, reports how the live one differs, and repairs it.
///
/// The refold goes into a temporary table while the projector works on; only the last stretch, the
/// comparison and the repair happen under the checkpoint's lock, in one transaction. Readers see
/// the table as it was until that commits.
package struct Rebuild: Sendable {
    /// How often the refold tries to catch up with a checkpoint that moves before it takes the
    /// lock.
    private static let attemptsMax = 8
    /// Events that may be left to fold under the lock.
    private static let underLockMax: Int64 = 5_000

    private static let tenants = Statement(
        "rebuild_tenants", "SELECT tenant_id FROM ledger_head ORDER BY tenant_id")

    private static let checkpoint = Statement(
        "rebuild_checkpoint",
        "SELECT position, version, failure FROM projections WHERE tenant_id = $1 AND name = $2")

    private let session: Postgres.Session
    private let disclosures: DisclosureReader

    /// Describes where the ledger is.
    ///
    /// - Parameters:
    ///   - url: of a role that may write the read models and make temporary tables.
    ///   - keyring: unwraps the keys of accounts; without the right ones the refold would lose e-mails,
    ///     so an unknown key is reported as a fault and nothing is repaired.
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
    /// - Throws: `PostgresError` when the database is away or refuses; earlier repairs stay.
    package func run(_ projection: ProjectionName) async throws -> [RebuildReport] {
        let names = try await session.run { connection in
            let result = try connection.query(Self.tenants)
            return try (0..<result.rowCount).map { try result.text($0, 0) }
        }
        var reports: [RebuildReport] = []
        for tenant in names.compactMap(TenantID.init) {
            reports.append(try await run(projection, in: tenant))
        }
        return reports
    }

    /// Rebuilds a projection for one tenant.
    ///
    /// - Throws: `PostgresError` when the database is away or refuses; the live table is as it was.
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
    ) throws(PostgresError) -> RebuildReport {
        let table = RefoldTable(name)
        try connection.execute(table.creation)
        try Checkpoints.make(
            [
                Checkpoints.Behind(
                    tenant: tenant, name: name, position: LogPosition(0), head: LogPosition(0),
                    isNew: true)
            ], on: connection)
        var refold = Refold(table, of: name, in: tenant, with: disclosures)
        for attempt in 1...Self.attemptsMax {
            let target = try self.checkpoint(name, in: tenant, on: connection)
            // Keyed lookups while folding; the comparison wants the planner's whole freedom.
            try connection.execute(
                "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
                    + "SET enable_bitmapscan = off")
            if let fault = try refold.advance(to: target, on: connection) {
                return report(name, tenant, refold.position, fault: fault)
            }
            let finished = try finish(
                &refold, table: table, name: name, tenant: tenant,
                isLastAttempt: attempt == Self.attemptsMax, on: connection)
            if let finished { return finished }
        }
        throw .unexpectedResult("the checkpoint moves faster than the log can be refolded")
    }

    /// Catches up under the lock, compares, repairs and commits; nil when too much is left to fold.
    private func finish(
        _ refold: inout Refold, table: RefoldTable, name: ProjectionName, tenant: TenantID,
        isLastAttempt: Bool, on connection: Connection
    ) throws(PostgresError) -> RebuildReport? {
        let locked = try connection.pipeline([
            Call(.begin), Checkpoints.lockCall(name, in: tenant),
        ])
        defer { connection.rollBack() }
        guard let lease = try Checkpoints.lease(locked[1]) else {
            throw .unexpectedResult("the checkpoint is gone")
        }
        guard lease.position >= refold.position else {
            throw .unexpectedResult("the checkpoint went back during the rebuild")
        }
        let left = lease.position.value - refold.position.value
        guard left <= Self.underLockMax || isLastAttempt else { return nil }
        if let fault = try refold.advanceInTransaction(to: lease.position, on: connection) {
            return report(name, tenant, refold.position, fault: fault)
        }
        var report = report(name, tenant, refold.position)
        try connection.execute(
            "RESET enable_seqscan; RESET enable_hashjoin; RESET enable_mergejoin;"
                + "RESET enable_bitmapscan;"
                + "ANALYZE \(table.name)")
        try table.repair(&report, on: connection)
        _ = try connection.pipeline([
            Checkpoints.moveCall(
                name, in: tenant, to: refold.position, version: name.projection().version,
                failure: nil),
            Call(.commit),
        ])
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
        _ name: ProjectionName, in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> LogPosition {
        let result = try connection.query(
            Self.checkpoint, [.text(tenant.description), .text(name.rawValue)])
        return try Checkpoints.lease(result)?.position ?? LogPosition(0)
    }
}
