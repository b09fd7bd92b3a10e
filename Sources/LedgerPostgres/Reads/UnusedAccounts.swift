package import Ledger
import Postgres

/// Finds the accounts of a provider that have not been used for some time: no event touches them, and no session
/// was refreshed.
package final class UnusedAccounts: Sendable {
    /// The default number of identities that one statement reads.
    private static let pageLimitDefault = 1_000

    /// A page of the provider's identities, in the order of their names, with those that are unused.
    package struct Page: Sendable {
        /// The accounts of the unused identities.
        package fileprivate(set) var accounts: [AccountID] = []
        /// The name after which the next page begins; nil after the last page.
        package fileprivate(set) var last: String?
    }

    private static let page = Statement(
        "unused_accounts",
        """
        SELECT i.provider_id, i.account_id,
            NOT EXISTS (
                SELECT FROM sessions
                WHERE tenant_id = $1 AND identity_id = i.identity_id
                    AND refresh_exchanged_at >= $5)
            AND EXISTS (
                SELECT FROM accounts a
                JOIN events e ON e.tenant_id = $1 AND e.position = a.last_position
                WHERE a.tenant_id = $1 AND a.account_id = i.account_id AND e.recorded_at < $5
                OFFSET 0) AS is_unused
        FROM (
            SELECT identity_id, provider_id, account_id FROM identities
            WHERE tenant_id = $1 AND provider = $2 AND provider_id > $3
                AND account_id IS NOT NULL
            ORDER BY provider_id LIMIT $4) i
        ORDER BY i.provider_id
        """)

    private static let earlier = Statement(
        "retention_time", "SELECT least($1::timestamptz, clock_timestamp()) AS now")

    private let session: Postgres.Session
    private let pageLimit: Int

    /// Creates a finder.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - pageLimit: The number of identities that one statement reads; 1,000 if nil.
    package init(url: String, pageLimit: Int? = nil) {
        self.pageLimit = pageLimit ?? Self.pageLimitDefault
        session = Postgres.Session(
            url: url, applicationName: "account-ledger retention", statementDeadline: .seconds(30)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    /// Returns the next page.
    ///
    /// - Parameters:
    ///   - tenant: The tenant of the accounts.
    ///   - provider: The provider of their identities.
    ///   - time: The time since which none was used.
    ///   - name: The end of the previous page; empty for the first.
    /// - Returns: The unused accounts among the page's identities.
    /// - Throws: `PostgresError`.
    package func page(
        of tenant: TenantID, _ provider: ProviderName, notUsedSince time: Timestamp,
        after name: String
    ) async throws -> Page {
        try await session.run { connection in
            let result = try connection.query(
                Self.page,
                [
                    .text(tenant.description), .text(provider.description), .text(name),
                    .int8(Int64(pageLimit)), .timestamp(time.microseconds),
                ])
            let (id, account) = (
                try result.column("provider_id"), try result.column("account_id")
            )
            let isUnused = try result.column("is_unused")
            var page = Page()
            for row in 0..<result.rowCount where try result.bool(row, isUnused) {
                page.accounts.append(AccountID(bits: try result.uuid(row, account)))
            }
            if result.rowCount == pageLimit {
                page.last = try result.text(result.rowCount - 1, id)
            }
            return page
        }
    }

    /// Returns the earlier one of a time and the database's: a machine whose clock is ahead erases nothing early.
    ///
    /// - Throws: `PostgresError`.
    package func earlier(of time: Timestamp) async throws -> Timestamp {
        try await session.run { connection in
            let row = try connection.query(Self.earlier, [.timestamp(time.microseconds)])
            return Timestamp(microseconds: try row.timestamp(0, row.column("now")))
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
