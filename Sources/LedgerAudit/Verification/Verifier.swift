package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Checks that the log is sound and that everything stored beside it matches the log.
///
/// Folds the whole log of each tenant with the pure model, in one snapshot, while the ledger is in use.
/// Damage is reported and never ends the verification; only a failing database does. A first pass only
/// determines whether everything holds; where it does not, a second one, slower and in more memory, locates
/// the faults.
package struct Verifier: Sendable {
    private static let tables = [
        "ledger_head", "events", "disclosures", "account_keys", "accounts", "identities",
        "sessions", "erasures", "merges", "rules",
        "projections", "user_providers", "account_audit", "conflicts", "merkle_nodes",
        "checkpoints",
        "checkpoint_keys", "access_log", "access_heads",
    ]

    private static let begin = Statement(
        "verify_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private static let prepare = "SET jit = off; SET idle_in_transaction_session_timeout = 0"

    private let url: String
    private let session: Postgres.Session
    private let disclosures: DisclosureReader?
    private let formerEmails: FormerEmails?
    private let layout: StreamedVerification.Layout
    private let trust: SealTrust

    /// Creates a verifier.
    ///
    /// - Parameters:
    ///   - url: the URL of a role that may read every table; without a keyring, of one that may read all but
    ///     personal columns.
    ///   - keyring: unwraps the keys of accounts; nil leaves disclosures and personal columns unchecked.
    ///   - searchKey: makes the digests of former e-mails; nil leaves them unchecked.
    ///   - trust: the keys and checkpoints from outside the database.
    ///   - rangeEvents: the number of events that each of the connections reads at a time; a log of no more
    ///     is read over one connection.
    package init(
        url: String, keyring: WrappingKeyring?, searchKey: SearchKey? = nil,
        trust: SealTrust = SealTrust(), rangeEvents: Int64 = 1_000
    ) {
        self.url = url
        self.trust = trust
        let disclosures = keyring.map { DisclosureReader(keyring: $0) }
        self.disclosures = disclosures
        formerEmails = searchKey.flatMap { key in
            disclosures.map { FormerEmails(key: key, disclosures: $0) }
        }
        layout = StreamedVerification.Layout(rangeEvents: rangeEvents)
        session = Postgres.Session(
            url: url, applicationName: Self.applicationName, statementDeadline: Self.deadline
        ) { try $0.execute(Self.prepare) }
    }

    private static let applicationName = "account-ledger verify"
    private static let deadline = Duration.seconds(3600)

    /// Verifies one tenant, or all that any table names.
    ///
    /// `progress` is called every `VerificationProgress.eventsPerReport` events.
    /// - Throws: `PostgresError` when the database fails.
    package func run(
        tenant: TenantID? = nil,
        progress: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> VerificationReport {
        try await run(tenant: tenant, progress: progress) { _, _ in }
    }

    /// Verifies likewise, and runs a body in the snapshot in which a tenant was found sound.
    ///
    /// - Throws: also the error of the body.
    func run(
        tenant: TenantID?, progress: @escaping @Sendable (VerificationProgress) -> Void,
        whereItHolds body: @escaping @Sendable (TenantID, Connection) throws -> Void
    ) async throws -> VerificationReport {
        try await session.run { connection in
            var report = VerificationReport()
            report.opensDisclosures = self.disclosures != nil
            report.checksMACs = !(self.disclosures?.macs.isEmpty ?? true)
            let names = try tenant.map { [$0.description] } ?? self.tenants(on: connection)
            for name in names {
                report.tenants += 1
                guard let tenant = TenantID(name) else {
                    report.add(
                        VerificationFinding(
                            tenant: "?", position: nil, check: .head,
                            text: "a table names an invalid tenant"))
                    continue
                }
                do {
                    try self.verify(tenant, &report, progress, body, on: connection)
                } catch let error as PostgresError {
                    guard UnreadableSearch.isAbout(error) else { throw error }
                    var search = UnreadableSearch(tenant, on: connection)
                    try search.run(after: error)
                    report.isSearched = true
                    for finding in search.findings { report.add(finding) }
                }
            }
            return report
        }
    }

    /// Verifies a tenant in one snapshot; the report keeps its findings when an error is thrown.
    ///
    /// A value that ends the first pass with an error also starts the second one, in its own snapshot, which
    /// reports its findings before it reaches that value.
    private func verify(
        _ tenant: TenantID, _ report: inout VerificationReport,
        _ progress: @escaping @Sendable (VerificationProgress) -> Void,
        _ body: (TenantID, Connection) throws -> Void, on connection: Connection
    ) throws {
        let before = report.findingCount
        var isSearching = false
        do {
            try connection.transaction(Self.begin) {
                try Self.keepTables(on: connection)
                if var whole = try streamed(tenant, progress).run(report, on: connection) {
                    try formerEmails?.check(tenant, &whole, on: connection)
                    report = whole
                } else {
                    isSearching = true
                    try search(tenant, &report, progress, on: connection)
                }
                guard report.findingCount == before else { return }
                isSearching = true
                try body(tenant, connection)
            }
        } catch let error as PostgresError where UnreadableSearch.isAbout(error) && !isSearching {
            try connection.transaction(Self.begin) {
                try Self.keepTables(on: connection)
                try search(tenant, &report, progress, on: connection)
            }
        }
    }

    /// Runs the second pass, which locates the faults.
    private func search(
        _ tenant: TenantID, _ report: inout VerificationReport,
        _ progress: @escaping @Sendable (VerificationProgress) -> Void, on connection: Connection
    ) throws {
        var verification = TenantVerification(
            tenant, report: report, disclosures: disclosures, trust: trust, progress: progress)
        verification.report.isSearched = true
        defer { report = verification.report }
        try verification.run(on: connection)
        try formerEmails?.check(tenant, &verification.report, on: connection)
    }

    /// Prevents tables of read models from being dropped while they are compared.
    private static func keepTables(on connection: Connection) throws(PostgresError) {
        for live in try ProjectionTables.live(on: connection) {
            // A read of no rows locks the table like LOCK, which requires a right to all columns.
            let name = quoteIdentifier(live.table.description)
            try connection.execute("SELECT tenant_id FROM \(name) LIMIT 0")
        }
    }

    private func streamed(
        _ tenant: TenantID, _ progress: @escaping @Sendable (VerificationProgress) -> Void
    ) -> StreamedVerification {
        StreamedVerification(
            tenant: tenant, disclosures: disclosures, layout: layout, trust: trust,
            connect: { [url] in
                let connection = try Connection(
                    url: url, applicationName: Self.applicationName,
                    statementDeadline: Self.deadline)
                try connection.execute(Self.prepare)
                return connection
            }, progress: progress)
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }

    /// Returns every tenant that any table names, or that has a signed log, but no half of one.
    private func tenants(on connection: Connection) throws(PostgresError) -> [String] {
        var names = Set(trust.records.keys.map(\.description))
        let engine = try DatabaseEngine(of: connection)
        for table in Self.tables {
            let result = try connection.query(AllTenants.named(in: table, on: engine))
            for row in 0..<result.rowCount {
                names.insert(try result.text(row, 0))
            }
        }
        // A copy that is not complete yet, or what is left of a tenant that was moved.
        for (tenant, move) in try TenantMove.all(on: connection)
        where move.state == .arriving || move.state == .discarded {
            names.remove(tenant.description)
        }
        return names.sorted()
    }
}
