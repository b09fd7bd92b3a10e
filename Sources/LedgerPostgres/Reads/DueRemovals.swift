package import Ledger
import Postgres

/// Finds the second factors whose planned removal is due.
package final class DueRemovals: Sendable {
    /// The most factors of one search; the next one finds the rest.
    private static let countMax: Int64 = 1_000

    /// A factor to remove.
    package struct Removal: Sendable {
        package let tenant: TenantID
        package let account: AccountID
        package let factor: FactorID
    }

    private let session: Postgres.Session

    /// Creates a finder.
    ///
    /// - Parameter url: The runtime role's URL.
    package init(url: String) {
        session = Postgres.Session(
            url: url, applicationName: "account-ledger removals", statementDeadline: .seconds(30)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    /// Returns the factors that are due at a time.
    ///
    /// - Throws: `PostgresError`.
    package func find(at now: Timestamp) async throws -> [Removal] {
        try await session.run { connection in
            let result = try connection.query(
                AllTenants.dueRemovals, [.timestamp(now.microseconds), .int8(Self.countMax)])
            return try (0..<result.rowCount).compactMap { row in
                // `verify` reports a row with an invalid tenant.
                guard let tenant = TenantID(try result.text(row, result.column("tenant_id")))
                else { return nil }
                return Removal(
                    tenant: tenant,
                    account: AccountID(bits: try result.uuid(row, result.column("account_id"))),
                    factor: FactorID(bits: try result.uuid(row, result.column("factor_id"))))
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
