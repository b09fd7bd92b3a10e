package import Ledger
package import LedgerExport
import Postgres
import TransparencyLog

/// Takes events out of the ledger, part by part, and checks what it hands out.
///
/// Memory stays at one part, and an account's positions. Events below the end are never changed, so
/// no transaction is held open: an erasure during the export is seen from then on.
package struct Exporter: Sendable {
    private let session: Postgres.Session
    private let disclosures: DisclosureReader?

    /// Describes where the ledger is.
    ///
    /// - Parameters:
    ///   - url: of a role that may read the log and what was sealed; to disclose, also disclosures,
    ///     and write the access log.
    ///   - keyring: nil when nothing is to be disclosed.
    package init(url: String, keyring: WrappingKeyring?) {
        disclosures = keyring.map { DisclosureReader(keyring: $0) }
        session = Postgres.Session(
            url: url, applicationName: "account-ledger export", statementDeadline: .seconds(600)
        ) { try $0.execute("SET jit = off; SET idle_in_transaction_session_timeout = '600s'") }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// The checkpoint that a bundle can be held against.
    ///
    /// `since` is the size of a checkpoint that the auditor has from before.
    /// - Throws: `ExportFailure`, or `PostgresError`.
    package func basis(of tenant: TenantID, since: Int64?) async throws -> ExportBasis {
        try await session.run { try ExportBasis(of: tenant, since: since, on: $0) }
    }

    /// Hands out every event of the log, up to the basis or to the end of this moment.
    ///
    /// `take` is called on the connection's thread; what it throws ends the export.
    /// - Returns: how many rows of checkpoints nobody signed; they are left out.
    /// - Throws: `ExportFailure`, `PostgresError`, or what `take` throws.
    package func all(
        in tenant: TenantID, basis: ExportBasis?,
        take: @escaping @Sendable (ExportedPart) throws -> Void
    ) async throws -> Int {
        try await session.run { connection in
            let end = try ExportStatements.end(of: tenant, on: connection)
            try Self.expect(basis, below: end)
            let marks = try LogMarks.read(
                of: tenant, checkingWith: self.disclosures?.macs, on: connection)
            var reading = LogExport(
                tenant: tenant, basis: basis, disclosures: self.disclosures, marks: marks,
                take: take)
            try reading.run(through: basis?.checkpoint.size ?? end, on: connection)
            return reading.strayCount
        }
    }

    /// Hands out every event that touches an account, up to the basis or to the end.
    ///
    /// Looks through the log itself for events after the last one that tables name. Of an event that
    /// begins with another account nothing is disclosed: those disclosures are about the other one.
    ///
    /// `take` is called on the connection's thread; what it throws ends the export.
    /// - Returns: how many later events the basis leaves out.
    /// - Throws: `ExportFailure`, `PostgresError`, or what `take` throws.
    package func account(
        _ account: AccountID, in tenant: TenantID, basis: ExportBasis?,
        take: @escaping @Sendable (ExportedPart) throws -> Void
    ) async throws -> Int {
        try await session.run { connection in
            let positions = try Self.positions(
                of: account, in: tenant, basis: basis, macs: self.disclosures?.macs, on: connection)
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

    /// Where an account's events are up to the end of the log, checked for gaps and broken chains.
    ///
    /// What tables say about the last one is held against the log itself.
    private static func positions(
        of account: AccountID, in tenant: TenantID, basis: ExportBasis?, macs: MACKeys?,
        on connection: Connection
    ) throws -> [Int64] {
        let begin = Statement("export_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return try connection.transaction(begin) {
            let snapshot = try HistorySnapshot.read(tenant, macs: macs, on: connection)
            let end = try ExportStatements.end(of: tenant, on: connection)
            try expect(basis, below: end)
            var positions: [Int64] = []
            var walk = AccountWalk(
                account, in: snapshot, reach: .everything, on: connection
            ) { event in positions.append(event.recorded.position.value) }
            do {
                _ = try walk.run(through: snapshot.log.size - 1)
                guard try walk.isKnown() else { throw ExportFailure.unknownAccount }
                try walk.checkTail(before: end)
            } catch let damage as LogDamage {
                throw ExportFailure.damaged("\(damage)")
            }
            return positions
        }
    }

    private static func expect(_ basis: ExportBasis?, below end: Int64) throws(ExportFailure) {
        guard let basis, basis.checkpoint.size > end else { return }
        throw .damaged("the log has \(end) events, fewer than the checkpoint says")
    }
}
