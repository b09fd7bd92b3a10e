package import Ledger
package import LedgerEngine
import Postgres

/// Rewraps account keys and webhook secrets with the current wrapping key.
///
/// Each transaction handles a bounded number. Rows already wrapped with that key are skipped, so a
/// run can be interrupted and repeated. A row that is changed or destroyed meanwhile is left as it
/// is.
package struct Rewrapping: Sendable {
    /// The result of a run.
    package struct Report: Sendable {
        package internal(set) var rewrapped: Int64 = 0
        /// Accounts whose key no key of the directory unwraps.
        package internal(set) var unreadable: [AccountID] = []
        /// The number of those accounts.
        package internal(set) var unreadableCount: Int64 = 0
        /// Rewrapped secrets of webhooks.
        package internal(set) var rewrappedWebhooks: Int64 = 0
        /// Webhooks with a secret that no key of the directory unwraps.
        package internal(set) var unreadableWebhooks: [WebhookID] = []
    }

    private static let unreadableMax = 20

    private static let store = Statement(
        "rewrap_store",
        """
        UPDATE account_keys k SET wrapping_key = $1::text, wrapped_key = n.new
        FROM unnest($2::text[], $3::uuid[], $4::bytea[], $5::bytea[]) n (tenant, account, old, new)
        WHERE k.tenant_id = n.tenant AND k.account_id = n.account AND k.wrapped_key = n.old
        """)

    /// Looks up each key separately, whatever the planner's estimates.
    private static let prepare = """
        SET lock_timeout = '5s'; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off
        """

    private let session: Postgres.Session
    private let keyring: WrappingKeyring

    /// Configures the database that holds the account keys and webhook secrets.
    ///
    ///   - url: The URL of the login that owns the tables.
    ///   - keyring: Unwraps with the old keys and wraps with the new one.
    package init(url: String, keyring: WrappingKeyring) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger rewrap", statementDeadline: .seconds(600)
        ) { try $0.execute(Self.prepare) }
        self.keyring = keyring
    }

    /// Rewraps all keys and secrets that were wrapped with another key.
    ///
    /// `progress` is called after each transaction with the number so far.
    /// - Throws: `PostgresError`; committed transactions remain.
    package func run(
        progress: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws -> Report {
        let report = try await session.run { [keyring] connection in
            var report = Report()
            var last: LastRow?
            while let next = try Self.step(
                after: last, keyring: keyring, on: connection, report: &report)
            {
                last = next
                progress(report.rewrapped)
            }
            try Self.rewrapWebhooks(keyring: keyring, on: connection, report: &report)
            return report
        }
        await session.close()
        return report
    }

    /// The last row of a page.
    private struct LastRow {
        let tenant: String
        let account: UInt128
    }

    /// Rewraps the page after a row and returns its last row; nil if nothing is left.
    private static func step(
        after last: LastRow?, keyring: WrappingKeyring, on connection: Connection,
        report: inout Report
    ) throws -> LastRow? {
        let current = keyring.currentID
        let rows = try connection.query(
            AllTenants.accountKeys,
            [.text(last?.tenant ?? ""), .uuid(last?.account ?? 0), .text(current)])
        var end: LastRow?
        var tenants: [String] = []
        var accounts: [UInt128] = []
        var old: [[UInt8]] = []
        var new: [[UInt8]] = []
        for row in 0..<rows.rowCount {
            let name = try rows.text(row, rows.column("tenant_id"))
            let account = AccountID(bits: try rows.uuid(row, rows.column("account_id")))
            let wrapped = try rows.bytes(row, rows.column("wrapped_key"))
            end = LastRow(tenant: name, account: account.bits)
            guard let tenant = TenantID(name),
                let key = keyring.unwrap(
                    wrapped, wrappingKey: try rows.text(row, rows.column("wrapping_key")),
                    tenant: tenant, account: account),
                let again = keyring.wrap(key, tenant: tenant, account: account),
                again.wrappingKey == current
            else {
                report.unreadableCount += 1
                if report.unreadable.count < unreadableMax { report.unreadable.append(account) }
                continue
            }
            tenants.append(name)
            accounts.append(account.bits)
            old.append(wrapped)
            new.append(again.wrapped)
        }
        guard !tenants.isEmpty else { return end }
        let stored = try connection.query(
            store,
            [.text(current), .texts(tenants), .uuids(accounts), .byteArrays(old), .byteArrays(new)])
        report.rewrapped += Int64(stored.rowsAffected)
        return end
    }
}
