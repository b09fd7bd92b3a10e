import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Computes the digests of former e-mails in the background, so that a search rarely has to.
///
/// Several processes may each run one: one of them at a time has a round, in small steps, so that links and
/// sign-ins, which need the same lock of a tenant, are not delayed.
package final class FormerEmailWorker: Sendable {
    /// The pause between two rounds.
    package static let pause = Duration.seconds(30)
    /// The pause between two pages of identities.
    private static let pagePause = Duration.milliseconds(100)
    /// "fome" in ASCII: distinguishes the lock from others.
    private static let lockSpace: Int32 = 0x666F_6D65

    // Acquired again for each page, because a lost connection releases it.
    private static let tryLock = Statement(
        "former_emails_try_lock", "SELECT pg_try_advisory_lock($1::int, 0)")
    private static let unlock = Statement(
        "former_emails_unlock", "SELECT pg_advisory_unlock_all()")

    private static let tenants = Statement(
        "former_emails_tenants",
        """
        SELECT DISTINCT tenant_id FROM identities
        WHERE account_id IS NULL AND former_email IS NULL ORDER BY tenant_id
        """)

    private let session: Postgres.Session
    private let emails: FormerEmails
    private let onFault: @Sendable (String) -> Void

    /// Creates a worker, which works once ``run()`` is called.
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
        ) {
            // Digests lost in a crash are computed again.
            try $0.execute(
                """
                \(SearchReads.settings); SET \(FormerEmails.readsInOrder); SET synchronous_commit = off
                """)
        }
    }

    /// Works until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            do {
                try await round()
            } catch {
                onFault("computing the digests of former e-mails failed: \(error)")
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await session.close()
    }

    /// Computes all missing digests, unless another process is doing so.
    ///
    /// - Throws: `PostgresError`; digests stored before are kept, and the next round continues.
    package func round() async throws {
        let names = try await session.run { connection in
            let result = try connection.query(Self.tenants)
            return try (0..<result.rowCount).map { try result.text($0, 0) }
        }
        for tenant in names.compactMap(TenantID.init) {
            var last: IdentityID?
            repeat {
                let step = try await session.run { [last] connection in
                    let lock = try connection.query(Self.tryLock, [.int4(Self.lockSpace)])
                    let isOurs = try lock.bool(0, 0)
                    let next =
                        isOurs
                        ? try self.emails.complete(tenant, after: last, on: connection) : nil
                    return (isOurs: isOurs, last: next)
                }
                guard step.isOurs else { return }
                last = step.last
                // A cancelled sleep ends the loop.
                if last != nil { try? await Task.sleep(for: Self.pagePause) }
            } while last != nil && !Task.isCancelled
        }
        _ = try await session.run { try $0.query(Self.unlock).rowCount }
    }
}
