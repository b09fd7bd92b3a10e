package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Finds accounts by any identifier or e-mail, on its own connection.
package struct SearchReads: SearchReader {
    /// The maximum time that a search for an e-mail waits for the read model.
    private static let patience = Duration.seconds(3)
    private static let pause = Duration.milliseconds(20)
    /// Settings with which each key is an index look-up, whatever the planner's estimates.
    static let settings = """
        SET statement_timeout = '10s'; SET lock_timeout = '2s';
        SET idle_in_transaction_session_timeout = '10s';
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
        SET jit = off
        """

    private static let begin = Statement(
        "search_begin", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    private static let head = Statement(
        "search_head", "SELECT next_position FROM ledger_head WHERE tenant_id = $1")

    private let session: Postgres.Session
    private let disclosures: DisclosureReader?
    private let emails: FormerEmails?
    private let onFault: @Sendable (String) -> Void

    /// Creates searches without connecting.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - keys: unwrap the keys of accounts and make the digests of e-mails; without them, results that need
    ///     them are omitted.
    ///   - onFault: called with one line, free of personal data, for each search that failed.
    package init(
        url: String, keys: (keyring: WrappingKeyring, search: SearchKey)?,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        disclosures = keys.map { DisclosureReader(keyring: $0.keyring) }
        emails = keys.map {
            FormerEmails(key: $0.search, disclosures: DisclosureReader(keyring: $0.keyring))
        }
        self.onFault = onFault
        session = Postgres.Session(
            url: url, applicationName: "account-ledger search", connectTimeout: .seconds(2),
            statementDeadline: .seconds(11)
        ) { try $0.execute(Self.settings) }
    }

    /// Closes the connection; the next search opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the exact matches of a term in one snapshot of the ledger.
    package func found(
        by term: SearchTerm, comparesPersonalData: Bool, in tenant: TenantID
    ) async throws(LedgerFault) -> SearchResult {
        do {
            var isWhole = true
            if comparesPersonalData, term.email != nil {
                isWhole = try await isUpToDate(tenant)
            }
            return try await session.run { [isWhole] connection in
                try connection.readingServedTables(Self.begin) {
                    var search = Search(
                        tenant: tenant, term: term, emails: emails, disclosures: disclosures)
                    search.hasMore = !isWhole
                    search.protection = try LogProtection.read(
                        of: tenant, checkingWith: disclosures?.macs, on: connection)
                    if comparesPersonalData { try search.comparePersonalData(on: connection) }
                    try search.lookUpIDs(on: connection)
                    if let fault = search.fault { onFault("a search is incomplete: \(fault)") }
                    return try search.result(on: connection)
                }
            }
        } catch {
            onFault("a search failed: \(error)")
            throw .unavailable
        }
    }

    /// Returns the e-mails of the identities of some accounts that have one.
    package func emails(
        of accounts: [AccountID], in tenant: TenantID
    ) async throws(LedgerFault) -> [IdentityID: Email] {
        do {
            guard try await isUpToDate(tenant) else { throw LedgerFault.unavailable }
            return try await session.run { connection in
                try connection.readingServedTables(Self.begin) {
                    try Self.emails(of: accounts, in: tenant, on: connection)
                }
            }
        } catch {
            onFault("reading e-mails failed: \(error)")
            throw .unavailable
        }
    }

    private static func emails(
        of accounts: [AccountID], in tenant: TenantID, on connection: Connection
    ) throws(PostgresError) -> [IdentityID: Email] {
        let rows = try connection.query(
            SearchRows.emails(try ProjectionTables.served(.userProviders, on: connection)),
            [.text(tenant.description), .uuids(accounts.map(\.bits))])
        var emails: [IdentityID: Email] = [:]
        for row in 0..<rows.rowCount {
            emails[IdentityID(bits: try rows.uuid(row, rows.column("identity_id")))] = Email(
                try rows.text(row, rows.column("email")),
                isVerified: try rows.optionalBool(row, rows.column("email_verified")))
        }
        return emails
    }

    /// Waits until the read model includes every event of the log's present end; returns false when that
    /// takes too long.
    private func isUpToDate(_ tenant: TenantID) async throws -> Bool {
        let name = Parameter.text(tenant.description)
        let wanted = try await session.run { connection in
            let heads = try connection.query(Self.head, [name])
            return heads.rowCount == 1 ? try heads.int8(0, 0) : 0
        }
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let position = try await session.run { connection in
                let table = try ProjectionTables.served(.userProviders, on: connection)
                let checkpoint = try connection.pipeline([
                    Checkpoints.call(of: table, in: tenant)
                ])
                return try Checkpoints.checkpoint(checkpoint[0], of: table)?.position.value ?? 0
            }
            if position >= wanted { return true }
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: Self.pause)
        }
    }
}
