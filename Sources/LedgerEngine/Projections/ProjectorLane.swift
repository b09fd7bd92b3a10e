import Ledger
import Synchronization

/// One of a projector's loops, on its own store, over some of the projections.
///
/// The number of rows that an event changes in `conflicts` has no bound, because any number of accounts may
/// claim the same identity. It has its own lane, so that a slow page delays nothing that requests wait for.
final class ProjectorLane: Sendable {
    private static let contendedPause = Duration.milliseconds(10)

    private let configuration: ProjectorConfiguration
    /// The minimum time between two rounds while no request waits.
    private let pause: Duration
    private let store: any ProjectionStore
    private let folder: ProjectionFolder
    private let onFault: @Sendable (String) -> Void
    private let queue: TenantQueue
    private let signal = WakeSignal()
    private let urgency = WakeSignal()
    private let lastBeat = Mutex(ContinuousClock.now)

    /// Creates a lane, which works once ``run()`` is called.
    init(
        of projections: Set<ProjectionName>, pause: Duration,
        configuration: ProjectorConfiguration, store: any ProjectionStore,
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.pause = pause
        self.onFault = onFault
        self.store = store
        queue = TenantQueue(pause: pause, search: configuration.search)
        folder = ProjectionFolder(
            store: store, of: projections, batch: min(configuration.batch, LogPage.eventsMax),
            onAdvance: onAdvance, onFault: onFault)
    }

    /// Folds until the task is cancelled; survives an outage of the database.
    func run() async {
        // Every step is on the store's thread, and so is the code between steps.
        await withTaskExecutorPreference(store.taskExecutor) { await fold() }
        await store.close()
    }

    private func fold() async {
        var backoff = Duration.zero
        while !Task.isCancelled {
            do {
                let start = ContinuousClock.now
                let named = queue.next(at: start)
                let round = try await folder.round(
                    of: named, waiting: queue.nextUrgent, beat: beat)
                queue.conclude(round, of: named, at: .now)
                backoff = round.hasFaults ? Self.next(backoff) : .zero
                await rest(after: round, took: ContinuousClock.now - start, backoff: backoff)
            } catch {
                onFault("the projector cannot reach its tables: \(error)")
                queue.lookAtAll()
                backoff = Self.next(backoff)
                _ = try? await Task.sleep(for: backoff)
            }
            beat()
        }
    }

    /// Records a sign of life.
    func beat() {
        lastBeat.withLock { $0 = .now }
    }

    /// Starts a round over a tenant soon, over all without one; never blocks.
    func wake(for events: NewEvents?) {
        add(events, isUrgent: false)
        signal.raise()
    }

    /// Starts a round over a tenant, or all, even while commits gather; never blocks.
    func wakeUrgently(for events: NewEvents?) {
        add(events, isUrgent: true)
        urgency.raise()
        signal.raise()
    }

    private func add(_ events: NewEvents?, isUrgent: Bool) {
        if let events { queue.add(events, isUrgent: isUrgent) } else { queue.lookAtAll() }
    }

    /// Whether the loop ran within a time.
    func isAlive(within limit: Duration) -> Bool {
        lastBeat.withLock { ContinuousClock.now - $0 <= limit }
    }

    /// Waits before the next round: not at all while there are full pages, else for a wake-up.
    private func rest(
        after round: ProjectionFolder.Round, took: Duration, backoff: Duration
    ) async {
        if round.hasFaults {
            // A tenant that works does not wait long because of one that fails.
            let longest = round.hasFolded ? configuration.poll : backoff
            _ = try? await Task.sleep(for: min(backoff, longest))
        } else if queue.isNaming {
            // Another process is folding the same tables, see below.
            let least = round.contended.isEmpty ? configuration.urgentPause : Self.contendedPause
            _ = try? await Task.sleep(for: least)
            // While no tenant is named, any wake-up starts a round; otherwise only that of a request.
            let signal = queue.isEmpty ? signal : urgency
            await signal.wait(atMost: queue.pause(at: .now))
        } else if !round.contended.isEmpty {
            // Another process is folding the same tables; an immediate retry would only double its reads.
            await gather(for: max(pause, Self.contendedPause), atLeast: Self.contendedPause)
        } else if !round.hasFullPage {
            if round.hasFolded {
                await gather(for: max(pause, took), atLeast: configuration.urgentPause)
            }
            await signal.wait(atMost: configuration.poll)
        }
    }

    /// Waits for further commits until the pause is over or a request waits.
    ///
    /// The wait is as long as the last round when that was longer: each of a hundred busy tenants has its own
    /// transaction, which then holds more of its events.
    private func gather(for pause: Duration, atLeast least: Duration) async {
        _ = try? await Task.sleep(for: least)
        await urgency.wait(atMost: pause - least)
    }

    /// Returns the wait after the next failure.
    static func next(_ backoff: Duration) -> Duration {
        min(max(backoff * 2, .milliseconds(50)), .seconds(2))
    }
}
