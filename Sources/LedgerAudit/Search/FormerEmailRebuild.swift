package import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Recomputes the digests of former e-mails that differ from what the log discloses, while servers run.
package struct FormerEmailRebuild: Sendable {
    /// The name of the rebuild on the command line.
    package static let name = "former_emails"

    private let session: Postgres.Session
    private let emails: FormerEmails

    /// Creates a rebuild.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - keyring: unwraps the keys of accounts.
    ///   - key: makes the digests.
    package init(url: String, keyring: WrappingKeyring, key: SearchKey) {
        emails = FormerEmails(key: key, disclosures: DisclosureReader(keyring: keyring))
        session = Postgres.Session(
            url: url, applicationName: "account-ledger rebuild", statementDeadline: .seconds(3600)
        ) {
            try $0.execute("\(SearchReads.settings); SET \(FormerEmails.readsInOrder)")
            try $0.execute(
                "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        }
    }

    /// Corrects the digests of a tenant, or by default of all tenants.
    ///
    /// - Returns: the number of wrong digests, by tenant in the order of their names.
    /// - Throws: `PostgresError`, after which a new start resumes; `FormerEmailFault` for a key directory
    ///   that is not the ledger's.
    package func run(
        in tenant: TenantID? = nil
    ) async throws -> [(tenant: TenantID, wrong: Int)] {
        try await session.run { connection in
            var tenants = [tenant].compactMap(\.self)
            if tenant == nil {
                tenants = try AllTenants.servedHeads(on: connection).map(\.tenant)
            }
            if let missing = try emails.disclosures.missingKey(on: connection) {
                throw FormerEmailFault.keyIsMissing(missing)
            }
            return try tenants.map { tenant in
                try TenantMove.refuse(tenant, on: connection)
                let wrong = try emails.reset(tenant, on: connection)
                var last = try emails.complete(tenant, after: nil, on: connection)
                while let behind = last {
                    last = try emails.complete(tenant, after: behind, on: connection)
                }
                return (tenant: tenant, wrong: wrong)
            }
        }
    }

    /// Closes the connection.
    package func close() async {
        await session.close()
    }
}
