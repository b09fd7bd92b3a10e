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
    /// The first delay for an erasure that waits for a read model; it doubles up to ``poll``.
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
        var pause = Self.pause
        while !Task.isCancelled {
            var isWaiting = false
            do {
                isWaiting = try await round() > 0
            } catch {
                onFault("erasing failed: \(error)")
            }
            await signal.wait(atMost: isWaiting ? pause : Self.poll)
            pause = isWaiting ? min(pause * 2, Self.poll) : Self.pause
        }
        await session.close()
    }

    /// Works once on each unfinished erasure; a failure does not stop the others.
    ///
    /// - Returns: The number of erasures that wait for the read models to fold their events.
    /// - Throws: The first `PostgresError`, after all have been tried; destroyed data stays
    ///   destroyed.
    package func round() async throws -> Int {
        var waiting = 0
        var failure: PostgresError?
        var page: [Erasure] = []
        repeat {
            let recent = try await erasures(AllTenants.recentErasures)
            for (tenant, erasures) in Dictionary(grouping: recent, by: \.tenant) {
                events.forget(Set(erasures.map(\.account)), of: tenant)
            }
            page = try await erasures(
                AllTenants.pendingErasures,
                [
                    .text(page.last?.tenant.description ?? ""), .uuid(page.last?.account.bits ?? 0),
                    .int8(Int64(limits.erasures)),
                ])
            for erasure in page {
                let work = ErasureWork(
                    tenant: erasure.tenant, account: erasure.account, limits: limits)
                do {
                    if try await execute(work) == .waits { waiting += 1 }
                } catch let error as PostgresError {
                    // Without a server there is nothing more to try.
                    if case .connectionFailed = error { throw error }
                    failure = failure ?? error
                }
            }
        } while page.count == limits.erasures && !Task.isCancelled
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

    private typealias Erasure = (tenant: TenantID, account: AccountID)

    private func erasures(
        _ statement: Statement, _ parameters: [Parameter] = []
    ) async throws -> [Erasure] {
        try await session.run { connection in
            let result = try connection.query(statement, parameters)
            return try (0..<result.rowCount).map { row in
                (
                    tenant: try result.tenant(row, result.column("tenant_id")),
                    account: AccountID(bits: try result.uuid(row, result.column("account_id")))
                )
            }
        }
    }
}
