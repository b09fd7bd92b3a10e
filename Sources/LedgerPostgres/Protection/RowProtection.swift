package import Ledger
import Postgres
import Synchronization

/// Gives the rows of decision state their codes, for `protect`: those that a former release has written, and
/// those whose code is by a former key.
///
/// A row gets its code as it was in the snapshot in which its tenant's whole ledger has just been found to
/// hold, and only if it is that version of it still. Whoever changes a row meanwhile is a server, which writes
/// a code, or nobody with the key, and then it gets none.
package struct RowProtection: Sendable {
    /// What a run did.
    package struct Outcome: Sendable {
        /// What the last verification found; no row got a code after one that did not hold.
        package let report: VerificationReport
        /// How many rows got a code.
        package fileprivate(set) var rowCount: Int64 = 0
        /// The log as it was verified; nil where it does not hold.
        package fileprivate(set) var standing: Standing?
        /// Some of the rows that have no code by the key in use; empty when all have.
        package fileprivate(set) var lacking: [String] = []
    }

    /// How a log stood in the snapshot in which it was verified.
    package struct Standing: Sendable {
        /// The key that authenticates what is appended.
        package let key: MACKey.ID
        /// From which position on every event has a code; nil while nothing in the log says so.
        package let protectedFrom: LogPosition?
        /// All that was verified, for the log to state; nil where it is protected.
        package let prefix: KeyRotated.Prefix?
    }

    /// A row that is locked just then comes with the next round.
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

    /// Describes where the rows are.
    ///
    /// - Parameters:
    ///   - ownerURL: of the login that owns the tables.
    ///   - keys: make the codes.
    package init(ownerURL: String, keys: MACKeys) {
        self.ownerURL = ownerURL
        self.keys = keys
        session = Postgres.Session(
            url: ownerURL, applicationName: Self.applicationName, statementDeadline: Self.deadline
        ) { try $0.execute(Self.prepare) }
    }

    /// Verifies a tenant and gives its rows codes.
    ///
    /// - Throws: `PostgresError`, or `LogDamage` when no key of the log is at hand; what was committed stays,
    ///   and the same call goes on.
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
                let standing = try self.standing(of: tenant, in: snapshot)
                let rows = try self.write(of: tenant, key: standing.key, in: snapshot)
                done.value.withLock { $0 = (standing: standing, rows: rows) }
            }
            var outcome = Outcome(report: report)
            guard report.holds, let held = done.value.withLock(\.self) else { return outcome }
            rowCount += held.rows
            outcome.rowCount = rowCount
            outcome.standing = held.standing
            outcome.lacking = try await lacking(held.standing.key, of: tenant)
            if outcome.lacking.isEmpty || round == Self.roundsMax { return outcome }
        }
    }

    /// Some of the live rows of a tenant that have no code by a key; each is named by kind and id.
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

    /// Checks that servers have appended every event since a size, which the log states now.
    ///
    /// - Throws: `LogDamage` for the first that none has.
    package func checkEvents(of tenant: TenantID, from size: Int64) async throws {
        try await session.run { [keys] connection in
            let marks = try LogMarks.read(of: tenant, keys: keys, on: connection)
            guard marks.protectedFrom == LogPosition(size) else {
                throw LogDamage(
                    position: LogPosition(size), fault: "nothing says that the log is protected")
            }
            var next = size
            while true {
                let page = try connection.query(
                    Self.events, [.text(tenant.description), .int8(next)])
                for row in 0..<page.rowCount {
                    guard try page.int8(row, 0) == next else {
                        throw LogDamage(position: LogPosition(next), fault: "the event is missing")
                    }
                    try marks.check(
                        try page.optionalBytes(row, 2), at: LogPosition(next),
                        leaf: leafHash(try page.bytes(row, 1)))
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

    private func standing(of tenant: TenantID, in snapshot: Connection) throws -> Standing {
        let marked = try LogMarks.read(of: tenant, keys: keys, on: snapshot).protectedFrom
        let head = try snapshot.query(Self.head, [.text(tenant.description)])
        let used = try head.rowCount == 1 ? head.optionalBytes(0, 0).flatMap { MAC($0)?.key } : nil
        guard let key = used ?? keys.current?.id else {
            throw LogDamage(
                position: LogPosition(0), fault: "no MAC key is at hand", lacksKey: true)
        }
        return Standing(
            key: key, protectedFrom: marked,
            prefix: marked == nil
                ? try LogRoot.read(of: tenant, keys: keys, on: snapshot).prefix : nil)
    }

    /// Writes the codes of the rows of a snapshot, some thousand in a transaction, without the head's lock.
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
                count += try Self.write(rows, of: table, key, on: owner)
                rows = []
            }
            count += try Self.write(rows, of: table, key, on: owner)
        }
        return count
    }

    private static func write(
        _ rows: [ProtectedRow], of table: ProtectedTable, _ key: MACKey, on owner: Connection
    ) throws(PostgresError) -> Int64 {
        guard !rows.isEmpty else { return 0 }
        let written = try owner.query(
            table.writing,
            [
                .texts(rows.map(\.version.place)), .texts(rows.map(\.version.writer)),
                .byteses(rows.map { key.code(of: $0.message).bytes }),
            ])
        return Int64(written.rowsAffected)
    }

    private final class Done: Sendable {
        let value = Mutex<(standing: Standing, rows: Int64)?>(nil)
    }
}

extension ProtectedTable {
    /// Waits for nobody, so that no server waits for it in a circle; whose row is locked writes a code, too.
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
                    WHERE ctid = k.place::tid AND xmin::text = k.writer
                    FOR UPDATE SKIP LOCKED) r) n
            WHERE t.ctid = n.place
            """)
    }
}
