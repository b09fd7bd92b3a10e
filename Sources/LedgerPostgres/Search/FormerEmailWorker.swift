import Ledger
import Postgres

/// Looks for the e-mails of identities that belong to nobody any more, so that no search has to do it for
/// many.
///
/// Several processes may each run one: one of them at a time has a round, in small steps, so that links and
/// sign-ins, which need the same lock of a tenant, go on.
package final class FormerEmailWorker: Sendable {
    /// How long the worker rests between two rounds.
    package static let pause = Duration.seconds(30)
    /// How long it rests between two pages of identities.
    private static let pagePause = Duration.milliseconds(100)
    /// "fome", in ASCII: sets the lock apart from others.
    private static let lockSpace: Int32 = 0x666F_6D65

    // Taken once more with each page, because a lost connection loses it.
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
        ) {
            // What a crash takes away is looked for again.
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
                onFault("looking for former e-mails failed: \(error)")
            }
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: Self.pause)
        }
        await session.close()
    }

    /// Looks for all that is not looked for yet, unless another process is about it.
    ///
    /// - Throws: `PostgresError`; what was found before is kept, and the next round goes on.
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
