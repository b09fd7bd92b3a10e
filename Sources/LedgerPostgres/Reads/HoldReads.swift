package import Ledger
import Postgres

/// Reads of legal holds on their own connection.
package struct HoldReads: HoldReader {
    private let session: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Configures the reads; does not connect yet.
    ///
    /// - Parameters:
    ///   - url: The URL of a role that may read `accounts`.
    ///   - onFault: Called with one line, free of personal data, for each failed read.
    package init(url: String, onFault: @escaping @Sendable (String) -> Void) {
        self.onFault = onFault
        session = Session.forReads(url: url, named: "holds", seconds: 5)
    }

    /// Closes the connection; the next read opens a new one.
    package func close() async {
        await session.close()
    }

    /// Returns the holds of the next accounts that have some, in the order of their ids.
    package func holds(
        after account: AccountID?, accounts limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> HoldPage {
        do {
            return try await session.run { connection in
                try HeldAccounts.page(tenant, after: account, accounts: limit, on: connection)
            }
        } catch {
            onFault("reading legal holds failed: \(error)")
            throw .unavailable
        }
    }
}
