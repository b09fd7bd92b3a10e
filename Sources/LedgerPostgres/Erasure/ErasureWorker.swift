import Ledger
import Postgres

/// Takes away what is left of erased accounts: the disclosures, which no key opens any more, and the
/// secrets of sessions that had ended before.
///
/// Several processes may each run one; the row of an erasure is the lease. Every transaction takes a bounded
/// part and notes how far it came, so that a crash at any moment loses nothing but time.
package final class ErasureWorker: Sendable {
    /// How long the worker rests when nobody wakes it.
    package static let poll = Duration.seconds(5)
    /// How long it leaves an erasure alone whose events the read model has not folded yet.
    private static let pause = Duration.milliseconds(100)

    private static let settings =
        ConnectionSettings.limits(idle: 10, lock: 2, statement: 10) + ConnectionSettings.lookups

    private static let pending = Statement(
        "erasures_pending",
        """
        SELECT tenant_id, account_id FROM erasures
        WHERE destroyed_at IS NULL ORDER BY erased_at LIMIT 1000
        """)

    // Erasures of other processes are to be heard of, too; more than once does no harm.
    private static let recent = Statement(
        "erasures_recent",
        """
        SELECT tenant_id, account_id FROM erasures
        WHERE erased_at > statement_timestamp() - interval '10 minutes'
        """)

    private let session: Postgres.Session
    private let events: RecentEvents
    private let limits: ErasureLimits
    private let onFault: @Sendable (String) -> Void
    private let signal = WakeSignal()

    /// Makes a worker; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - url: the runtime role's URL.
    ///   - recent: what this process appended last, which has to forget erased accounts, too.
    ///   - limits: how much one transaction does.
    ///   - onFault: called with one line, free of personal data, for each round that failed.
    package init(
        url: String, recent: RecentEvents = RecentEvents(), limits: ErasureLimits = ErasureLimits(),
        onFault: @escaping @Sendable (String) -> Void
    ) {
        session = Postgres.Session(
            url: url, applicationName: HolderName.erasure.rawValue, statementDeadline: .seconds(15)
        ) { try $0.execute(Self.settings) }
        events = recent
        self.limits = limits
        self.onFault = onFault
    }

    /// Makes the worker look at once; never blocks.
    ///
    /// To be called after a commit that erased an account.
    package func wake() {
        signal.raise()
    }

    /// Works until the task is cancelled; survives a database that goes away and comes back.
    package func run() async {
        while !Task.isCancelled {
            var isWaiting = false
            do {
                isWaiting = try await round() > 0
            } catch {
                onFault("erasing failed: \(error)")
            }
            if isWaiting {
                try? await Task.sleep(for: Self.pause)
            } else {
                await signal.wait(atMost: Self.poll)
            }
        }
        await session.close()
    }

    /// Works once at every erasure that is not done; one that fails stops none of the others.
    ///
    /// - Returns: how many wait until the read models have folded their events.
    /// - Throws: `PostgresError`, the first one, after all have been tried; what was destroyed stays
    ///   destroyed.
    package func round() async throws -> Int {
        for (tenant, accounts) in try await accounts(Self.recent) {
            events.forget(Set(accounts), of: tenant)
        }
        var waiting = 0
        var failure: PostgresError?
        for (tenant, accounts) in try await accounts(Self.pending) {
            for account in accounts {
                let work = ErasureWork(tenant: tenant, account: account, limits: limits)
                do {
                    if try await carryOut(work) == .waits { waiting += 1 }
                } catch let error as PostgresError {
                    // Without a server there is nothing more to try.
                    if case .connectionFailed = error { throw error }
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return waiting
    }

    private func carryOut(_ work: ErasureWork) async throws -> ErasureWork.Outcome {
        var outcome = ErasureWork.Outcome.partly
        while outcome == .partly, !Task.isCancelled {
            outcome = try await session.run { try work.step(on: $0) }
        }
        return outcome
    }

    private func accounts(_ statement: Statement) async throws -> [TenantID: [AccountID]] {
        try await session.run { connection in
            let result = try connection.query(statement)
            var accounts: [TenantID: [AccountID]] = [:]
            for row in 0..<result.rowCount {
                guard let tenant = TenantID(try result.text(row, 0)) else { continue }
                accounts[tenant, default: []].append(AccountID(bits: try result.uuid(row, 1)))
            }
            return accounts
        }
    }
}
