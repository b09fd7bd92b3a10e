import Dispatch
import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// The fast verification of one tenant's ledger.
///
/// Makes every check of ``TenantVerification`` and returns only whether all hold: the log is streamed in
/// ranges over separate connections, all in one snapshot, and folded in little memory; the tables beside it
/// are compared as unordered sums of keyed hashes. The exact search, which is slower and keeps the whole
/// state, then locates the faults.
struct StreamedVerification {
    /// The division of the log among connections.
    struct Layout: Sendable {
        /// The number of events read at a time.
        var rangeEvents: Int64 = 1_000
        /// The number of connections that read beside the one that folds.
        var readers = 2
        /// The maximum number of ranges in memory.
        var rangesAhead = 4
    }

    let tenant: TenantID
    let disclosures: DisclosureReader?
    let layout: Layout
    let trust: SealTrust
    /// Opens a reader's connection, outside any transaction.
    let connect: @Sendable () throws -> Connection
    let progress: @Sendable (VerificationProgress) -> Void

    /// Verifies inside the open transaction; returns nil when anything differs from the log.
    func run(
        _ report: VerificationReport, on connection: Connection
    ) throws -> VerificationReport? {
        var first = TenantVerification(
            tenant, report: report, disclosures: disclosures, trust: trust, progress: progress)
        guard let head = try first.readHead(on: connection), head.nextPosition.value >= 0 else {
            return nil
        }
        try first.readCheckpoints(head: head.nextPosition, on: connection)
        try first.checkAccessLog(on: connection)
        let macs = try first.checkHeadMAC(on: connection)
        guard first.report.findingCount == report.findingCount,
            try !Self.hasUnsigned(tenant, head: head.nextPosition, on: connection)
        else { return nil }

        guard try ErasedAccounts.keyed(of: tenant, on: connection).isEmpty else { return nil }
        let seals = try SealState(of: tenant, trust: trust, on: connection)
        guard seals.faults.isEmpty, seals.unsignedFaults.isEmpty,
            seals.leaves <= head.nextPosition.value, seals.leaves >= seals.required,
            seals.signed <= head.nextPosition.value,
            !seals.lacksTrustedSignature || head.nextPosition.value == 0
        else { return nil }
        let key = RowHashKey()
        let protection = try LogProtection.read(
            of: tenant, checkingWith: disclosures?.macs, on: connection)
        let reader = ChunkReader(
            tenant: tenant, disclosures: disclosures,
            erased: try ErasedAccounts(of: tenant, on: connection), key: key, seals: seals,
            macs: macs, protection: protection)
        let tables = first.tables.filter(\.isKnown)
        let chunks = VerificationChunks(
            through: head.nextPosition.value, step: layout.rangeEvents,
            TableScan.all(projections: tables).map { .table($0) }
                + (macs == nil ? [] : ProtectedTable.allCases.map { .macs($0) }))
        var fold = VerificationFold(
            tenant, size: head.nextPosition.value, report: first.report,
            checkpoints: tables.map { ($0, first.checkpoints[$0] ?? LogPosition(0)) },
            summer: RowSummer(key: key, isPersonal: disclosures != nil),
            roots: StatedRoots(protection),
            progress: progress)
        let isSound =
            if head.nextPosition.value <= layout.rangeEvents {
                try Self.consume(chunks, into: &fold) {
                    try reader.read(chunks[$0], on: connection)
                }
            } else {
                try share(chunks, reader, into: &fold, on: connection)
            }
        guard isSound, fold.state.lastRecordedAt == head.lastRecordedAt,
            fold.state.rules?.rulesVersion == head.rulesVersion
        else { return nil }
        return fold.report
    }

    /// Folds chunks as they arrive; returns false at the first unsound one.
    private static func consume(
        _ chunks: VerificationChunks, into fold: inout VerificationFold,
        _ take: (Int) throws -> VerifiedChunk
    ) throws -> Bool {
        for index in 0..<chunks.count {
            switch try take(index) {
            case .range(let range):
                guard fold.take(range) else { return false }
            case .table(let sums):
                fold.stored.merge(sums)
            case .unsound:
                return false
            }
        }
        return fold.end()
    }

    /// Reads the chunks over connections that see the snapshot of this one.
    private func share(
        _ chunks: VerificationChunks, _ reader: ChunkReader, into fold: inout VerificationFold,
        on connection: Connection
    ) throws -> Bool {
        let snapshot = try connection.query(
            Statement("verify_snapshot", "SELECT pg_export_snapshot()")
        ).text(0, 0)
        let work = VerificationWork(chunks, ahead: layout.rangesAhead)
        let readers = DispatchGroup()
        defer {
            work.close()
            readers.wait()
        }
        for number in 0..<max(1, layout.readers) {
            // No `BlockingExecutor`: the fold, which waits for the readers, does not suspend either.
            let queue = DispatchQueue(label: "account-ledger verify \(number)")
            queue.async(group: readers) { [connect] in
                var opened: Result<Connection, any Error>?
                work.run { chunk in
                    let result = opened ?? Result { try Self.open(connect, snapshot: snapshot) }
                    opened = result
                    return try reader.read(chunk, on: result.get())
                }
            }
        }
        return try Self.consume(chunks, into: &fold) { try work.take($0) }
    }

    private static func open(
        _ connect: () throws -> Connection, snapshot: String
    ) throws -> Connection {
        let connection = try connect()
        try connection.execute(
            """
            BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
            SET TRANSACTION SNAPSHOT \(quoteLiteral(snapshot))
            """)
        return connection
    }

    private static let strays = Statement(
        "verify_strays",
        """
        SELECT EXISTS (SELECT FROM events WHERE tenant_id = $1 AND position < 0)
            OR EXISTS (SELECT FROM events WHERE tenant_id = $1 AND position >= $2)
            OR EXISTS (SELECT FROM disclosures WHERE tenant_id = $1 AND position < 0)
            OR EXISTS (SELECT FROM disclosures WHERE tenant_id = $1 AND position >= $2)
        """)

    /// Whether there are events or disclosures outside the log.
    private static func hasUnsigned(
        _ tenant: TenantID, head: LogPosition, on connection: Connection
    ) throws(PostgresError) -> Bool {
        try connection.query(strays, [.text(tenant.description), .int8(head.value)]).bool(0, 0)
    }
}
