package import Ledger
import Postgres

/// Reads of legal holds, and of requests for erasures, on their own connection.
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

    /// Returns the requests for the next accounts, in the order of their ids.
    package func erasureRequests(
        after account: AccountID?, limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> ErasureRequestPage {
        try await read { connection in
            try ErasureRequestRows.page(tenant, after: account, limit: limit, on: connection)
        }
    }

    /// Returns the request for an account; nil without one that can be confirmed.
    package func erasureRequest(
        for account: AccountID, in tenant: TenantID
    ) async throws(LedgerFault) -> ErasureRequest? {
        try await read { connection in
            try ErasureRequestRows.request(for: account, in: tenant, on: connection)
        }
    }

    /// Returns the holds of the next accounts that have some, in the order of their ids.
    package func holds(
        after account: AccountID?, accounts limit: Int, in tenant: TenantID
    ) async throws(LedgerFault) -> HoldPage {
        try await read { connection in
            try HeldAccounts.page(tenant, after: account, accounts: limit, on: connection)
        }
    }

    private func read<Found: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Found
    ) async throws(LedgerFault) -> Found {
        do {
            return try await session.run { try body($0) }
        } catch {
            onFault("reading legal holds or requests for erasures failed: \(error)")
            throw .unavailable
        }
    }
}
