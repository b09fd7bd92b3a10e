package import Ledger
package import LedgerEngine
package import LedgerExport
import LedgerPostgres
import Postgres
import TransparencyLog

/// Exports events from the ledger in parts, and checks them.
///
/// Memory stays at one part and an account's positions. Events below the end never change, so no
/// transaction is kept open; an erasure during the export takes effect from then on.
package struct Exporter: Sendable {
    private let session: Postgres.Session
    private let disclosures: DisclosureReader?
    private let macs: MACKeys?

    /// Configures the exporter.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read the log and sealed data; for disclosures it must
    ///     also read them and write the access log.
    ///   - keyring: Nil to disclose nothing.
    ///   - macs: Authenticate events; by default those of the keyring.
    package init(url: String, keyring: WrappingKeyring?, macs: MACKeys? = nil) {
        disclosures = keyring.map { DisclosureReader(keyring: $0) }
        self.macs = macs ?? keyring?.macs
        session = Postgres.Session(
            url: url, applicationName: "account-ledger export", statementDeadline: .seconds(600)
        ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '600s'") }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// Returns the checkpoint that a bundle can be verified against.
    ///
    /// `since` is the size of a checkpoint that the auditor already has.
    /// - Throws: `ExportFailure`, or `PostgresError`.
    package func basis(of tenant: TenantID, since: Int64?) async throws -> ExportBasis {
        try await session.run { try ExportBasis(of: tenant, since: since, on: $0) }
    }

    /// Exports every event of the log, up to the basis or to the current end.
    ///
    /// `take` runs on the connection's thread; its errors end the export.
    /// - Returns: The number of unsigned checkpoint rows, which are omitted.
    /// - Throws: `ExportFailure`, `PostgresError`, or errors of `take`.
    package func all(
        in tenant: TenantID, basis: ExportBasis?,
        take: @escaping @Sendable (ExportedPart) throws -> Void
    ) async throws -> Int {
        try await session.run { connection in
            let end = try ExportStatements.end(of: tenant, on: connection)
            try Self.expect(basis, below: end)
            let protection = try LogProtection.read(
                of: tenant, checkingWith: self.macs, on: connection)
            var reading = LogExport(
                tenant: tenant, basis: basis, disclosures: self.disclosures, protection: protection,
                take: take)
            try reading.run(through: basis?.checkpoint.size ?? end, on: connection)
            return reading.unsignedCount
        }
    }

    /// Exports every event that touches an account, up to the basis or to the end.
    ///
    /// The log itself is searched for events after the last one in the tables. An event whose first
    /// account is another one is exported without disclosures, since they are about that account.
    ///
    /// `take` runs on the connection's thread; its errors end the export.
    /// - Returns: The number of later events that the basis excludes.
    /// - Throws: `ExportFailure`, `PostgresError`, or errors of `take`.
    package func account(
        _ account: AccountID, in tenant: TenantID, basis: ExportBasis?,
        take: @escaping @Sendable (ExportedPart) throws -> Void
    ) async throws -> Int {
        try await session.run { connection in
            let positions = try Self.positions(
                of: account, in: tenant, basis: basis, macs: self.macs, on: connection)
            let size = basis?.checkpoint.size ?? .max
            let covered = positions.prefix { $0 < size }
            guard !covered.isEmpty else { throw ExportFailure.unknownAccount }
            let export = AccountExport(
                account: account, tenant: tenant, basis: basis, disclosures: self.disclosures,
                take: take)
            try export.run(covered, on: connection)
            return positions.count - covered.count
        }
    }

    /// Returns the positions of an account's events, checked for gaps and broken chains.
    ///
    /// The last position according to the tables is checked against the log itself.
    private static func positions(
        of account: AccountID, in tenant: TenantID, basis: ExportBasis?, macs: MACKeys?,
        on connection: Connection
    ) throws -> [Int64] {
        let begin = Statement("export_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return try connection.readingServedTables(begin) {
            let snapshot = try HistorySnapshot.read(tenant, macs: macs, on: connection)
            let end = try ExportStatements.end(of: tenant, on: connection)
            try expect(basis, below: end)
            var positions: [Int64] = []
            var traversal = AccountTraversal(
                account, in: snapshot, reach: .everything, on: connection
            ) { event in positions.append(event.recorded.position.value) }
            do {
                _ = try traversal.run(through: snapshot.log.size - 1)
                guard try traversal.isKnown() else { throw ExportFailure.unknownAccount }
                try traversal.checkTail(before: end)
            } catch let damage as LogDamage {
                throw ExportFailure.damaged("\(damage)")
            }
            return positions
        }
    }

    private static func expect(_ basis: ExportBasis?, below end: Int64) throws(ExportFailure) {
        guard let basis, basis.checkpoint.size > end else { return }
        throw .damaged("the log has \(end) events, fewer than its checkpoint")
    }
}
