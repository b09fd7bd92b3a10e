import Ledger
import Postgres
import Synchronization

/// Folds the log into the read models, from checkpoints, exactly once.
///
/// A transaction writes rows and moves the checkpoints of their tables together. Several processes
/// may each run a projector on the same database: the checkpoint's row is the lease. It folds into
/// every live table of a projection, as it finds them at each look, so that a rebuild needs no
/// restart. A table that cannot fold an event stops there and says so in `projections.failure`;
/// other tables and other tenants go on. A restart tries the event once more.
package final class Projector: Sendable {
    /// Settings of the connection that folds.
    ///
    /// Losing the last commits in a crash is harmless, because checkpoint and rows are lost
    /// together and folded again. Every statement looks few keys up, which the planner should not
    /// take for a scan while tables are young.
    static let settings = """
        SET synchronous_commit = off;
        SET idle_in_transaction_session_timeout = '10s';
        SET lock_timeout = '2s';
        SET statement_timeout = '10s';
        SET plan_cache_mode = force_generic_plan;
        SET enable_seqscan = off;
        SET enable_bitmapscan = off;
        SET enable_hashjoin = off;
        SET enable_mergejoin = off;
        SET jit = off;
        """

    private struct State {
        var lastBeat = ContinuousClock.now
    }

    private let configuration: ProjectorConfiguration
    private let store: PostgresProjectionStore
    private let session: Postgres.Session
    private let statusSession: Postgres.Session
    private let folder: ProjectionFolder
    private let onFault: @Sendable (String) -> Void
    private let signal = WakeSignal()
    private let urgency = WakeSignal()
    private let state = Mutex(State())

    /// Makes a projector; ``run()`` has to be called for it to work.
    ///
    /// - Parameters:
    ///   - configuration: where the database is, and limits.
    ///   - keyring: unwraps the keys of accounts.
    ///   - recent: what this process appended last.
    ///   - onAdvance: called after each commit that moved a checkpoint; must not block.
    ///   - onFault: called with one line, free of personal data, for each failure; must not block.
    package init(
        configuration: ProjectorConfiguration, keyring: WrappingKeyring,
        recent: RecentEvents = RecentEvents(),
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void = { _ in },
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.onFault = onFault
        session = Postgres.Session(
            url: configuration.url, applicationName: "account-ledger projector",
            statementDeadline: .seconds(15)
        ) { try $0.execute(Self.settings) }
        store = PostgresProjectionStore(
            session: session, disclosures: DisclosureReader(keyring: keyring), recent: recent)
        folder = ProjectionFolder(
            store: store, batch: min(configuration.batch, LogPage.eventsMax),
            onAdvance: onAdvance, onFault: onFault)
        statusSession = Postgres.Session(
            url: configuration.url, applicationName: "account-ledger projector status",
            statementDeadline: .seconds(5))
    }

    /// Folds until the task is cancelled; survives a database that goes away and comes back.
    package func run() async {
        var backoff = Duration.zero
        var hasCleared = false
        while !Task.isCancelled {
            do {
                if !hasCleared {
                    try await session.run { try Checkpoints.clearFailures(on: $0) }
                    hasCleared = true
                }
                let round = try await folder.round(beat: beat)
                backoff = round.hasFaults ? Self.next(backoff) : .zero
                await rest(after: round, backoff: backoff)
            } catch {
                onFault("the projector cannot reach its tables: \(error)")
                backoff = Self.next(backoff)
                _ = try? await Task.sleep(for: backoff)
            }
            beat()
        }
        await session.close()
        await statusSession.close()
    }

    private func beat() {
        state.withLock { $0.lastBeat = .now }
    }

    /// Makes the projector look at once; never blocks.
    ///
    /// To be called after each commit.
    package func wake() {
        signal.raise()
    }

    /// Makes the projector look even while it lets commits gather; never blocks.
    ///
    /// To be called for somebody who waits for what is not folded yet.
    package func hurry() {
        urgency.raise()
        signal.raise()
    }

    /// Whether the loop has come by within a time; a database that is away does not stop it.
    package func isAlive(within limit: Duration = .seconds(30)) -> Bool {
        state.withLock { ContinuousClock.now - $0.lastBeat <= limit }
    }

    /// How far every projection of every tenant has come, read from the database.
    ///
    /// - Throws: `PostgresError` when the database cannot say.
    package func status() async throws -> [ProjectionStatus] {
        try await statusSession.run { try ProjectionStatus.all(on: $0) }
    }

    /// Waits before the next round: not at all while there are full pages, else for a wake-up.
    private func rest(after round: ProjectionFolder.Round, backoff: Duration) async {
        if round.hasFaults {
            // What works is not to wait long for what does not.
            let longest = round.hasFolded ? configuration.poll : backoff
            _ = try? await Task.sleep(for: min(backoff, longest))
        } else if round.isContended {
            // Another process is folding the same; looking again at once would only double its
            // reading.
            _ = try? await Task.sleep(for: max(configuration.pause, .milliseconds(10)))
        } else if !round.hasFullPage {
            if round.hasFolded { await gather() }
            await signal.wait(atMost: configuration.poll)
        }
    }

    /// Lets commits gather until the pause is over, or until somebody waits for them.
    private func gather() async {
        _ = try? await Task.sleep(for: configuration.hurriedPause)
        await urgency.wait(atMost: configuration.pause - configuration.hurriedPause)
    }

    private static func next(_ backoff: Duration) -> Duration {
        min(max(backoff * 2, .milliseconds(50)), .seconds(2))
    }
}
