package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres
import Synchronization

/// Adds MACs to the rows of decision state for `protect`, where they have none or one of a former
/// key.
///
/// A row gets the MAC of its version in the snapshot in which its tenant's whole ledger was
/// verified, and only if it is still that version. A row that changes meanwhile was written by a
/// server, which adds a MAC itself, or by a writer without the key, and gets none.
package struct RowProtection: Sendable {
    /// The result of a run.
    package struct Outcome: Sendable {
        /// The report of the last verification; no row got a MAC after a failed one.
        package let report: VerificationReport
        /// The number of rows that got a MAC.
        package fileprivate(set) var rowCount: Int64 = 0
        /// The state of the log when it was verified; nil if the verification failed.
        package fileprivate(set) var verifiedState: VerifiedState?
        /// Some of the rows without a MAC of the key in use; empty if all have one.
        package fileprivate(set) var lacking: [String] = []
    }

    /// The state of a log in the snapshot in which it was verified.
    package struct VerifiedState: Sendable {
        /// The key that authenticates new events.
        package let key: MACKey.ID
        /// The position from which every event has a MAC; nil while nothing in the log says so.
        package let protectedFrom: LogPosition?
        /// The verified prefix, for the log to record; nil if the log is protected.
        package let prefix: KeyRotated.Prefix?
    }

    /// The maximum number of rounds; a row that is locked in one is handled in the next.
    private static let roundsMax = 3
    private static let rowsPerTransaction = 2_000
    private static let namesMax = 20
    private static let applicationName = "account-ledger protect"
    private static let deadline = Duration.seconds(600)
    private static let prepare = ConnectionSettings.lookups + "SET lock_timeout = '30s';\n"

    private static let head = Statement(
        "protection_head", "SELECT mac FROM ledger_head WHERE tenant_id = $1::text")

    private static let events = Statement(
        "protection_events",
        """
        SELECT position, entry, mac FROM events
        WHERE tenant_id = $1::text AND position >= $2 ORDER BY position LIMIT \(LogReader.pageMax)
        """)

    private let ownerURL: String
    private let keys: MACKeys
    private let session: Postgres.Session

    /// Configures the database.
    ///
    /// - Parameters:
    ///   - ownerURL: The URL of the login that owns the tables.
    ///   - keys: Compute the MACs.
    package init(ownerURL: String, keys: MACKeys) {
        self.ownerURL = ownerURL
        self.keys = keys
        session = Postgres.Session(
            url: ownerURL, applicationName: Self.applicationName, statementDeadline: Self.deadline
        ) { try $0.execute(Self.prepare) }
    }

    /// Verifies a tenant and adds MACs to its rows.
    ///
    /// - Throws: `PostgresError`, or `LogDamage` if no key of the log is available; committed MACs
    ///   remain, and the same call continues.
    package func run(
        _ tenant: TenantID, _ verifier: Verifier,
        progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> Outcome {
        var rowCount: Int64 = 0
        var round = 0
        while true {
            round += 1
            let done = Done()
            let report = try await verifier.run(tenant: tenant, progress: progress) {
                tenant, snapshot in
                let verifiedState = try self.verifiedState(of: tenant, in: snapshot)
                let rows = try self.write(of: tenant, key: verifiedState.key, in: snapshot)
                done.value.withLock { $0 = (verifiedState: verifiedState, rows: rows) }
            }
            var outcome = Outcome(report: report)
            guard report.holds, let held = done.value.withLock(\.self) else { return outcome }
            rowCount += held.rows
            outcome.rowCount = rowCount
            outcome.verifiedState = held.verifiedState
            outcome.lacking = try await lacking(held.verifiedState.key, of: tenant)
            if outcome.lacking.isEmpty || round == Self.roundsMax { return outcome }
        }
    }

    /// Returns some of the live rows of a tenant without a MAC of a key, by kind and id.
    package func lacking(_ key: MACKey.ID, of tenant: TenantID) async throws -> [String] {
        try await session.run { connection in
            var names: [String] = []
            try connection.transaction {
                for table in ProtectedTable.allCases {
                    try table.eachRow(of: tenant, lacking: key, on: connection) { row in
                        guard names.count < Self.namesMax else { return }
                        names.append(row?.name ?? "a row of \(table.rawValue) that cannot be read")
                    }
                }
            }
            return names
        }
    }

    /// Checks that servers have appended every event since a size that the log now records.
    ///
    /// - Throws: `LogDamage` for the first one that no server has appended.
    package func checkEvents(of tenant: TenantID, from size: Int64) async throws {
        try await session.run { [keys] connection in
            let protection = try LogProtection.read(of: tenant, keys: keys, on: connection)
            guard protection.protectedFrom == LogPosition(size) else {
                throw LogDamage(
                    position: LogPosition(size), fault: "nothing says that the log is protected")
            }
            var next = size
            while true {
                let page = try connection.query(
                    Self.events, [.text(tenant.description), .int8(next)])
                for row in 0..<page.rowCount {
                    guard try page.int8(row, page.column("position")) == next else {
                        throw LogDamage(position: LogPosition(next), fault: "the event is missing")
                    }
                    try protection.check(
                        try page.optionalBytes(row, page.column("mac")), at: LogPosition(next),
                        leaf: LogDigest.leaf(try page.bytes(row, page.column("entry"))))
                    next += 1
                }
                if page.rowCount < LogReader.pageMax { return }
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    private func verifiedState(of tenant: TenantID, in snapshot: Connection) throws -> VerifiedState
    {
        let marked = try LogProtection.read(of: tenant, keys: keys, on: snapshot).protectedFrom
        let head = try snapshot.query(Self.head, [.text(tenant.description)])
        let used = try head.rowCount == 1 ? head.optionalBytes(0, 0).flatMap { MAC($0)?.key } : nil
        guard let key = used ?? keys.current?.id else {
            throw LogDamage(
                position: LogPosition(0), fault: "no MAC key is at hand", lacksKey: true)
        }
        return VerifiedState(
            key: key, protectedFrom: marked,
            prefix: marked == nil
                ? try LogRoot.read(of: tenant, keys: keys, on: snapshot).prefix : nil)
    }

    /// Writes the MACs of the rows of a snapshot, some thousand per transaction, without the
    /// head's lock.
    private func write(
        of tenant: TenantID, key id: MACKey.ID, in snapshot: Connection
    ) throws -> Int64 {
        guard let key = keys.key(id) else {
            throw LogDamage(
                position: LogPosition(0), fault: "the MAC key \(id) is not in the key directory",
                lacksKey: true)
        }
        let owner = try Connection(
            url: ownerURL, applicationName: Self.applicationName, statementDeadline: Self.deadline)
        defer { owner.close() }
        try owner.execute(Self.prepare)
        var count: Int64 = 0
        for table in ProtectedTable.allCases {
            var rows: [ProtectedRow] = []
            try table.eachRow(of: tenant, lacking: id, on: snapshot) { row throws(PostgresError) in
                if let row { rows.append(row) }
                guard rows.count == Self.rowsPerTransaction else { return }
                count += try Self.write(rows, of: table, in: tenant, key, on: owner)
                rows = []
            }
            count += try Self.write(rows, of: table, in: tenant, key, on: owner)
        }
        return count
    }

    private static func write(
        _ rows: [ProtectedRow], of table: ProtectedTable, in tenant: TenantID, _ key: MACKey,
        on owner: Connection
    ) throws(PostgresError) -> Int64 {
        guard !rows.isEmpty else { return 0 }
        let written = try owner.query(
            table.writing,
            [
                .texts(rows.map(\.version.address)), .texts(rows.map(\.version.writer)),
                .byteArrays(rows.map { key.mac(of: $0.message).bytes }),
                .text(tenant.description),
            ])
        return Int64(written.rowsAffected)
    }

    private final class Done: Sendable {
        let value = Mutex<(verifiedState: VerifiedState, rows: Int64)?>(nil)
    }
}

extension ProtectedTable {
    /// Skips locked rows to avoid a deadlock with servers; the holder of the lock writes a MAC,
    /// too.
    fileprivate var writing: Statement {
        Statement(
            "protect_\(rawValue)",
            """
            UPDATE \(rawValue) t SET mac = n.mac
            FROM (
                SELECT r.place, k.mac
                FROM unnest($1::text[], $2::text[], $3::bytea[]) AS k (place, writer, mac)
                CROSS JOIN LATERAL (
                    SELECT ctid AS place FROM \(rawValue)
                    WHERE tenant_id = $4 AND ctid = k.place::tid AND xmin::text = k.writer
                        AND NOT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $4)
                    FOR UPDATE SKIP LOCKED) r) n
            WHERE t.tenant_id = $4 AND t.ctid = n.place
            """)
    }
}
