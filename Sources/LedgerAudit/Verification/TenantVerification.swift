import Ledger
import LedgerEngine
import LedgerPostgres
import Postgres

/// The verification of one tenant, inside the open transaction.
struct TenantVerification {
    /// A row of `ledger_head`.
    struct Head {
        let nextPosition: LogPosition
        let lastRecordedAt: Timestamp
        let rulesVersion: Int64?
    }

    private static let head = Statement(
        "verify_head",
        "SELECT next_position, last_recorded_at, rules_version FROM ledger_head WHERE tenant_id = $1"
    )

    let tenant: TenantID
    var report: VerificationReport
    let disclosures: DisclosureReader?
    private let trust: SealTrust
    private let progress: @Sendable (VerificationProgress) -> Void

    /// The fold of the log; unchanged once ``foldFault`` is set.
    var state: LedgerState
    /// The position at which the fold ended, because later events cannot be relied on.
    var foldFault: LogPosition?
    /// The position that the next row must have.
    var nextPosition = LogPosition(0)
    var personal = PersonalColumns()
    var command = CommandCheck()
    var macs = MACCheck(nil)
    /// The checks of the live tables of `account_audit`.
    var audits: [AuditCheck] = []
    /// The conflicts according to the log; nil when there is no table of them.
    var conflicts: ConflictFold?
    /// Every table that projectors fold into.
    var tables: [ProjectionTable] = []
    /// The erased accounts according to the table.
    var erased = ErasedAccounts()
    /// The times at which the log erased accounts.
    var erasedAt: [AccountID: Timestamp] = [:]
    /// The next positions of the tables; 0 for one without a row.
    var checkpoints: [ProjectionTable: LogPosition] = [:]
    /// The tables of `user_providers` and `conflicts` that have been compared.
    var compared: Set<ProjectionTable> = []

    init(
        _ tenant: TenantID, report: VerificationReport, disclosures: DisclosureReader?,
        trust: SealTrust, progress: @escaping @Sendable (VerificationProgress) -> Void
    ) {
        self.tenant = tenant
        self.report = report
        self.disclosures = disclosures
        self.trust = trust
        self.progress = progress
        state = LedgerState(tenant: tenant)
    }

    mutating func add(_ check: VerificationCheck, _ position: LogPosition?, _ text: String) {
        report.add(
            VerificationFinding(
                tenant: tenant.description, position: position, check: check, text: text))
    }

    /// Whether personal columns are read; a login without keys may lack the right to.
    var isPersonal: Bool { disclosures != nil }

    /// Ends the fold: later events are only checked row by row.
    mutating func stopFold(at position: LogPosition) {
        if foldFault == nil { foldFault = position }
    }

    mutating func run(on connection: Connection) throws(PostgresError) {
        let findingsBefore = report.findingCount
        let head = try readHead(on: connection)
        try readErasures(on: connection)
        try readCheckpoints(head: head?.nextPosition ?? LogPosition(0), on: connection)
        try checkAccessLog(on: connection)
        for table in tables(of: .accountAudit) {
            audits.append(
                try AuditCheck(
                    tenant, table: table, checkpoint: checkpoints[table] ?? LogPosition(0),
                    comparesClientIP: disclosures != nil, erased: erased, on: connection))
        }
        if !tables(of: .conflicts).isEmpty { conflicts = ConflictFold() }
        macs = MACCheck(
            try LogProtection.read(of: tenant, checkingWith: disclosures?.macs, on: connection))
        try readLog(size: head?.nextPosition.value ?? 0, on: connection)
        compare(head)
        try compareSeals(on: connection)
        try checkMACs(on: connection)
        guard foldFault == nil else { return }
        command.end(state: state, position: state.nextPosition).map { add(.links, $0.0, $0.1) }
        for index in audits.indices {
            try audits[index].end(&report, on: connection)
        }
        try compareUserProviders(atEnd: true, on: connection)
        try compareConflicts(atEnd: true, on: connection)
        try compareAccounts(on: connection)
        try compareIdentities(on: connection)
        try compareSessions(on: connection)
        try compareErasures(on: connection)
        try compareMerges(on: connection)
        try compareRules(on: connection)
        try compareAddresses(on: connection)
        try compareNames(on: connection)
        try compareCredentials(on: connection)
        try compareFactors(on: connection)
        try findStrayDisclosures(on: connection)
        guard report.findingCount == findingsBefore else { return }
        report.completeAccounts += Int64(state.accounts.count)
        for table in tables where table.isKnown {
            report.add(
                EqualTable(
                    tenant: tenant, projection: table.projection.rawValue,
                    size: checkpoints[table] ?? LogPosition(0)))
        }
    }

    mutating func readHead(on connection: Connection) throws(PostgresError) -> Head? {
        let result = try connection.query(Self.head, [.text(tenant.description)])
        report.count(.head)
        guard result.rowCount == 1 else {
            add(.head, nil, "the tenant has no head")
            return nil
        }
        do throws(PostgresError) {
            return Head(
                nextPosition: LogPosition(try result.int8(0, result.column("next_position"))),
                lastRecordedAt: Timestamp(
                    microseconds: try result.timestamp(0, result.column("last_recorded_at"))),
                rulesVersion: try result.optionalInt8(0, result.column("rules_version")))
        } catch {
            add(.head, nil, "the head cannot be read")
            return nil
        }
    }

    private mutating func readLog(
        size: Int64, on connection: Connection
    ) throws(PostgresError) {
        let total = report.events &+ size
        var last = Int64.min
        while true {
            let results = try connection.pipeline([
                LogReader.rowsCall(after: last, in: tenant, limit: LogReader.pageMax)
            ])
            guard let page = results.first, page.rowCount > 0 else { return }
            var opened = try DisclosurePage(
                page, in: tenant, reader: disclosures, on: connection)
            for row in 0..<page.rowCount {
                if compared.count < tables.count {
                    try compareUserProviders(on: connection)
                    try compareConflicts(on: connection)
                }
                last = try page.int8(row, 0)
                try take(page, row, at: LogPosition(last), opened: &opened, on: connection)
                report.events += 1
                if report.events % VerificationProgress.eventsPerReport == 0 {
                    progress(
                        VerificationProgress(
                            tenant: tenant, events: report.events,
                            total: max(total, report.events)))
                }
            }
            for position in opened.strayPositions {
                add(.disclosures, position, "a disclosure belongs to no event")
            }
        }
    }

    /// Compares the log with its seals, even when the fold ended early.
    private mutating func compareSeals(on connection: Connection) throws(PostgresError) {
        let seals = try SealState(of: tenant, trust: trust, on: connection)
        var search = MerkleSearch(tenant, seals)
        try search.run(on: connection)
        for finding in search.findings { add(finding.check, finding.position, finding.text) }
        if seals.lacksTrustedSignature, nextPosition.value > 0 {
            add(.checkpoints, nil, "no given key has signed any part of the log")
        }
        report.count(.nodes, search.hashCount)
        report.count(.checkpoints, search.checkpointCount)
        report.signedEvents += search.signedSize
    }

    private mutating func compare(_ head: Head?) {
        guard let head else { return }
        if head.nextPosition != nextPosition {
            add(
                .head, min(head.nextPosition, nextPosition),
                "the head is at \(head.nextPosition), the log ends at \(nextPosition)")
        } else if foldFault == nil, head.lastRecordedAt != state.lastRecordedAt {
            add(
                .head, LogPosition(max(0, nextPosition.value - 1)),
                "last_recorded_at is not the time of the last event")
        } else if foldFault == nil, head.rulesVersion != state.rules?.rulesVersion {
            add(.head, nil, "rules_version is not the version of the last rules")
        }
    }
}
