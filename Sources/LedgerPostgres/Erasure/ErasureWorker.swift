import Ledger
package import LedgerEngine
import Postgres

/// Deletes the remaining data of erased accounts.
///
/// That is the disclosures, which no key decrypts any longer, and the secrets of sessions that had
/// ended before. Several processes may each run one; the row of an erasure is the lease. Each
/// transaction handles a bounded part and records its progress, so that a crash loses only time.
package final class ErasureWorker: Sendable {
    /// The interval between rounds without a wake-up.
    package static let poll = Duration.seconds(5)
    /// The delay for an erasure whose events the read model has not folded yet.
    private static let pause = Duration.milliseconds(100)

    private static let settings =
        ConnectionSettings.limits(idle: 10, lock: 2, statement: 10) + ConnectionSettings.lookups

    private let session: Postgres.Session
    private let events: RecentEvents
    private let limits: ErasureLimits
    private let onFault: @Sendable (String) -> Void
    private let signal = WakeSignal()

    /// Creates a worker, which works while ``run()`` runs.
    ///
    /// - Parameters:
    ///   - url: The runtime role's URL.
    ///   - recent: This process's cache of recent events, which must drop those of erased accounts.
    ///   - limits: The limits of one transaction.
    ///   - onFault: Called with one line, free of personal data, for each failed round.
    package init(
        url: String, recent: RecentEvents = RecentEvents(), limits: ErasureLimits = ErasureLimits(),
        onFault: @escaping @Sendable (String) -> Void
    ) {
        session = Postgres.Session(
            url: url, applicationName: LockHolderName.erasure.rawValue,
            statementDeadline: .seconds(15)
        ) { try $0.execute(Self.settings) }
        events = recent
        self.limits = limits
        self.onFault = onFault
    }

    /// Starts a round at once; never blocks.
    ///
    /// Call it after a commit that erased an account.
    package func wake() {
        signal.raise()
    }

    /// Works until the task is cancelled; survives outages of the database.
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

    /// Works once on each unfinished erasure; a failure does not stop the others.
    ///
    /// - Returns: The number of erasures that wait for the read models to fold their events.
    /// - Throws: The first `PostgresError`, after all have been tried; destroyed data stays
    ///   destroyed.
    package func round() async throws -> Int {
        for (tenant, accounts) in try await accounts(AllTenants.recentErasures) {
            events.forget(Set(accounts), of: tenant)
        }
        var waiting = 0
        var failure: PostgresError?
        for (tenant, accounts) in try await accounts(AllTenants.pendingErasures) {
            for account in accounts {
                let work = ErasureWork(tenant: tenant, account: account, limits: limits)
                do {
                    if try await execute(work) == .waits { waiting += 1 }
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

    private func execute(_ work: ErasureWork) async throws -> ErasureWork.Outcome {
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
                guard let tenant = TenantID(try result.text(row, result.column("tenant_id"))) else {
                    continue
                }
                accounts[tenant, default: []].append(
                    AccountID(bits: try result.uuid(row, result.column("account_id"))))
            }
            return accounts
        }
    }
}
