import Ledger
import Postgres
import Synchronization

/// One of a projector's loops, on a connection of its own, over some of the projections.
///
/// What an event changes in `conflicts` has no bound: everybody may claim the same identity. It has a lane to
/// itself, so that what holds it up holds up nothing that people wait for.
final class ProjectorLane: Sendable {
    /// Settings of the connection that folds.
    ///
    /// Losing the last commits in a crash is harmless, because checkpoint and rows are lost
    /// together and folded again. Every statement looks few keys up, which the planner should not
    /// take for a scan while tables are young.
    static let settings =
        ConnectionSettings.repeatable + ConnectionSettings.limits(idle: 2, lock: 2, statement: 10)
        + ConnectionSettings.lookups

    private let configuration: ProjectorConfiguration
    /// The least time between two looks while nobody waits.
    private let pause: Duration
    private let session: Postgres.Session
    private let folder: ProjectionFolder
    private let onFault: @Sendable (String) -> Void
    private let signal = WakeSignal()
    private let urgency = WakeSignal()
    private let lastBeat = Mutex(ContinuousClock.now)

    /// Makes a lane; ``run()`` has to be called for it to work.
    init(
        of projections: Set<ProjectionName>, pause: Duration,
        configuration: ProjectorConfiguration, keyring: WrappingKeyring, recent: RecentEvents,
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.pause = pause
        self.onFault = onFault
        session = Postgres.Session(
            url: configuration.url, applicationName: HolderName.projector.rawValue,
            statementDeadline: .seconds(11)
        ) {
            // It may lead to another database than before, where a standby has taken over or a backup was
            // restored; and that may lack what was appended last.
            recent.forget()
            try $0.execute(Self.settings)
        }
        folder = ProjectionFolder(
            store: PostgresProjectionStore(
                session: session, disclosures: DisclosureReader(keyring: keyring), recent: recent),
            of: projections, batch: min(configuration.batch, LogPage.eventsMax),
            onAdvance: onAdvance, onFault: onFault)
    }

    /// Folds until the task is cancelled; survives a database that goes away and comes back.
    func run() async {
        // Every step is on the session's thread; so is what happens between them.
        await withTaskExecutorPreference(session.taskExecutor) { await fold() }
        await session.close()
    }

    private func fold() async {
        var backoff = Duration.zero
        while !Task.isCancelled {
            do {
                let start = ContinuousClock.now
                let round = try await folder.round(beat: beat)
                backoff = round.hasFaults ? Self.next(backoff) : .zero
                await rest(after: round, took: ContinuousClock.now - start, backoff: backoff)
            } catch {
                onFault("the projector cannot reach its tables: \(error)")
                backoff = Self.next(backoff)
                _ = try? await Task.sleep(for: backoff)
            }
            beat()
        }
    }

    /// Notes a sign of life.
    func beat() {
        lastBeat.withLock { $0 = .now }
    }

    /// Makes the lane look at once; never blocks.
    func wake() {
        signal.raise()
    }

    /// Makes the lane look even while it lets commits gather; never blocks.
    func hurry() {
        urgency.raise()
        signal.raise()
    }

    /// Whether the loop has come by within a time.
    func isAlive(within limit: Duration) -> Bool {
        lastBeat.withLock { ContinuousClock.now - $0 <= limit }
    }

    /// Waits before the next round: not at all while there are full pages, else for a wake-up.
    private func rest(
        after round: ProjectionFolder.Round, took: Duration, backoff: Duration
    ) async {
        if round.hasFaults {
            // What works is not to wait long for what does not.
            let longest = round.hasFolded ? configuration.poll : backoff
            _ = try? await Task.sleep(for: min(backoff, longest))
        } else if round.isContended {
            // Another process is folding the same; looking again at once would only double its
            // reading.
            _ = try? await Task.sleep(for: max(pause, .milliseconds(10)))
        } else if !round.hasFullPage {
            if round.hasFolded { await gather(for: max(pause, took)) }
            await signal.wait(atMost: configuration.poll)
        }
    }

    /// Lets commits gather until the pause is over, or until somebody waits for them.
    ///
    /// For as long as the round took when that is longer: with a hundred busy tenants each has a
    /// transaction of its own, and more of its events are in it then.
    private func gather(for pause: Duration) async {
        _ = try? await Task.sleep(for: configuration.hurriedPause)
        await urgency.wait(atMost: pause - configuration.hurriedPause)
    }

    /// The wait after the next failure.
    static func next(_ backoff: Duration) -> Duration {
        min(max(backoff * 2, .milliseconds(50)), .seconds(2))
    }
}
