import Ledger
package import LedgerEngine
import LedgerPostgres
import Postgres

/// Computes the digests of former e-mails in the background, so that a search rarely has to.
///
/// Several processes may each run one: a lease lets one of them at a time work for a tenant, in small steps, so
/// that links and sign-ins, which need the same lock of a tenant, are not delayed. The lease only saves work:
/// two processes would store the same digests.
package final class FormerEmailWorker: Sendable {
    /// The pause between two rounds.
    package static let pause = Duration.seconds(30)
    /// The pause between two pages of identities.
    private static let pagePause = Duration.milliseconds(100)
    /// The time after a page in seconds, after which another process continues.
    private static let leaseSeconds: Int32 = 20

    // A clock that was set back must not extend a lease beyond twice its length.
    private static let takeLease = Statement(
        "former_emails_take_lease",
        """
        INSERT INTO former_email_leases AS l (tenant_id, holder, expires_at)
        VALUES ($1, $2, statement_timestamp() + make_interval(secs => $3::int))
        ON CONFLICT (tenant_id) DO UPDATE
        SET holder = excluded.holder, expires_at = excluded.expires_at
        WHERE l.holder = excluded.holder
            OR CASE WHEN isfinite(l.expires_at) THEN
                excluded.expires_at - l.expires_at > make_interval(secs => $3::int)
                OR l.expires_at - excluded.expires_at > make_interval(secs => $3::int)
                ELSE true END
        RETURNING 1
        """)
    private static let releaseLease = Statement(
        "former_emails_release_lease",
        "DELETE FROM former_email_leases WHERE tenant_id = $1 AND holder = $2")

    private let holder = UInt128.random(in: .min ... .max)
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

    /// Computes all missing digests, except of tenants that another process works for.
    ///
    /// - Throws: `PostgresError`; digests stored before are kept, and the next round continues.
    package func round() async throws {
        let tenants = try await session.run { try AllTenants.withPendingFormerEmails(on: $0) }
        for tenant in tenants { try await complete(tenant) }
    }

    private func complete(_ tenant: TenantID) async throws {
        let lease: [Parameter] = [.text(tenant.description), .uuid(holder)]
        var last: IdentityID?
        repeat {
            let step = try await session.run { [last] connection in
                let taken = try connection.query(
                    Self.takeLease, lease + [.int4(Self.leaseSeconds)])
                let isOurs = taken.rowCount == 1
                let next =
                    isOurs ? try self.emails.complete(tenant, after: last, on: connection) : nil
                return (isOurs: isOurs, last: next)
            }
            guard step.isOurs else { return }
            last = step.last
            // A cancelled sleep ends the loop.
            if last != nil { try? await Task.sleep(for: Self.pagePause) }
        } while last != nil && !Task.isCancelled
        _ = try await session.run { try $0.query(Self.releaseLease, lease).rowCount }
    }
}
