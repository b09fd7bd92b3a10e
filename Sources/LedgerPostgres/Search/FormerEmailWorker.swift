import Ledger
import Postgres

/// Looks for the e-mails of identities that belong to nobody any more, so that no search has to do it for
/// many.
///
/// Several processes may each run one: what another one found first stays.
package final class FormerEmailWorker: Sendable {
    /// How long the worker rests between two rounds.
    package static let pause = Duration.seconds(30)
    private static let tenants = Statement(
        "former_emails_tenants",
        """
        SELECT DISTINCT tenant_id FROM identities
        WHERE account_id IS NULL AND former_email IS NULL ORDER BY tenant_id
        """)

    private let session: Postgres.Session
    private let emails: FormerEmails
    private let onFault: @Sendable (String) -> Void

    /// Makes a worker; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - keyring: unwraps the keys of accounts.
    ///   - key: makes the digests.
    ///   - onFault: called with one line, free of personal data, for each round that failed.
    package init(
        url: String, keyring: WrappingKeyring, key: SearchKey,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        emails = FormerEmails(key: key, disclosures: DisclosureReader(keyring: keyring))
        self.onFault = onFault
        session = Postgres.Session(
            url: url, applicationName: "account-ledger former e-mails",
            statementDeadline: .seconds(15)
        ) { try $0.execute(SearchReads.settings) }
    }

    /// Works until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do {
                try await round()
            } catch {
                onFault("looking for former e-mails failed: \(error)")
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await session.close()
    }

    /// Looks for all that is not looked for yet.
    ///
    /// - Throws: `PostgresError`; what was found before is kept.
    package func round() async throws {
        let names = try await session.run { connection in
            let result = try connection.query(Self.tenants)
            return try (0..<result.rowCount).map { try result.text($0, 0) }
        }
        for tenant in names.compactMap(TenantID.init) {
            var last: IdentityID?
            repeat {
                last = try await session.run { [last] in
                    try self.emails.complete(tenant, after: last, on: $0)
                }
            } while last != nil && !Task.isCancelled
        }
    }
}
