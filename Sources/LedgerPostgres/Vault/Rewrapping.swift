package import Ledger
package import LedgerEngine
import Postgres

/// Renews with the current encryption key what former ones have encrypted or named: account keys, passwords,
/// second factors, secrets of webhooks and the digests of addresses.
///
/// Each transaction handles a bounded number. Rows already renewed are skipped, so a run can be
/// interrupted and repeated. A row that is changed or destroyed meanwhile is left as it is, as are those of a tenant
/// that is being moved.
package struct Rewrapping: Sendable {
    private static let accountKeys = AllTenants.page(
        of: "account_keys", ["t.tenant_id", "t.account_id", "t.wrapping_key", "t.wrapped_key"],
        id: "account_id")

    private static let store = Statement(
        "rewrap_store",
        """
        UPDATE account_keys k SET wrapping_key = $2::text, wrapped_key = n.new
        FROM unnest($3::uuid[], $4::bytea[], $5::bytea[]) n (account, old, new)
        WHERE k.tenant_id = $1 AND k.account_id = n.account AND k.wrapped_key = n.old
            AND NOT EXISTS (SELECT FROM tenant_moves WHERE tenant_id = $1)
        """)

    /// Looks up each key separately, whatever the planner's estimates.
    private static let prepare = """
        SET lock_timeout = '5s'; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off
        """

    private let session: Postgres.Session
    let keyring: WrappingKeyring
    /// Returns the names of an address by every key.
    let names: @Sendable (String, AddressKind, TenantID) -> [AddressName]

    /// Configures the database.
    ///
    ///   - url: The URL of the login that owns the tables.
    ///   - keyring: Decrypts with the old keys and encrypts with the new one.
    ///   - names: Returns the names of an address by every key.
    package init(
        url: String, keyring: WrappingKeyring,
        names: @escaping @Sendable (String, AddressKind, TenantID) -> [AddressName]
    ) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger rewrap", statementDeadline: .seconds(600)
        ) { try $0.execute(Self.prepare) }
        self.keyring = keyring
        self.names = names
    }

    /// Renews everything that another key has encrypted or named.
    ///
    /// `progress` is called after each transaction with the number of account keys so far.
    /// - Throws: `PostgresError`; committed transactions remain.
    package func run(
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> RewrapReport {
        let report = try await session.run { connection in
            var report = RewrapReport()
            try eachPage(of: Self.accountKeys, "account_id", on: connection) { tenant, rows in
                try rewrapAccountKeys(rows, of: tenant, on: connection, report: &report)
                progress(report.rewrapped(.accountKeys))
            }
            try eachPage(of: Self.passwords, "identity_id", on: connection) { tenant, rows in
                try rewrapPasswords(rows, of: tenant, on: connection, report: &report)
            }
            try eachPage(of: Self.factors, "factor_id", on: connection) { tenant, rows in
                try rewrapFactors(rows, of: tenant, on: connection, report: &report)
            }
            try eachPage(of: Self.addresses, "address_id", on: connection) { tenant, rows in
                try renameAddresses(rows, of: tenant, on: connection, report: &report)
            }
            try rewrapWebhooks(on: connection, report: &report)
            return report
        }
        await session.close()
        return report
    }

    /// A page of a table that is read in the order of tenant and id.
    struct Page {
        let result: QueryResult
        /// The rows of one tenant.
        let rows: Range<Int>
    }

    /// Reads the rows that another key has written, page by page and tenant by tenant.
    private func eachPage(
        of statement: Statement, _ id: String, on connection: Connection,
        _ body: (TenantID, Page) throws -> Void
    ) throws {
        var last: (tenant: String, id: UInt128) = ("", 0)
        while true {
            let result = try connection.query(
                statement, [.text(last.tenant), .uuid(last.id), .text(keyring.currentID)])
            guard result.rowCount > 0 else { return }
            var first = 0
            for row in 0..<result.rowCount {
                let name = try result.text(row, result.column("tenant_id"))
                if row + 1 < result.rowCount,
                    try result.text(row + 1, result.column("tenant_id")) == name
                {
                    continue
                }
                last = (name, try result.uuid(row, result.column(id)))
                // `verify` reports a row with an invalid tenant.
                if let tenant = TenantID(name) {
                    try body(tenant, Page(result: result, rows: first..<row + 1))
                }
                first = row + 1
            }
        }
    }

    private func rewrapAccountKeys(
        _ page: Page, of tenant: TenantID, on connection: Connection, report: inout RewrapReport
    ) throws {
        let current = keyring.currentID
        var accounts: [UInt128] = []
        var old: [[UInt8]] = []
        var new: [[UInt8]] = []
        for row in page.rows {
            let rows = page.result
            let account = AccountID(bits: try rows.uuid(row, rows.column("account_id")))
            let wrapped = try rows.bytes(row, rows.column("wrapped_key"))
            guard
                let key = keyring.unwrap(
                    wrapped, wrappingKey: try rows.text(row, rows.column("wrapping_key")),
                    tenant: tenant, account: account),
                let again = keyring.wrap(key, tenant: tenant, account: account),
                again.wrappingKey == current
            else {
                report.addUnreadable(.accountKeys, account.description)
                continue
            }
            accounts.append(account.bits)
            old.append(wrapped)
            new.append(again.wrapped)
        }
        let stored = try connection.query(
            Self.store,
            [
                .text(tenant.description), .text(current), .uuids(accounts), .byteArrays(old),
                .byteArrays(new),
            ])
        report.add(Int64(stored.rowsAffected), .accountKeys)
    }
}
