package import Ledger

/// Folds the log into the read models from their checkpoints, exactly once.
///
/// A transaction writes rows and moves the checkpoints of their tables together. Several processes may each
/// run a projector on the same database: the checkpoint's row is the lease. It folds into every live table of
/// a projection, as found in each round, so that a rebuild needs no restart. A table that cannot fold an
/// event stops there and records the reason in `projections.failure`; other tables and other tenants
/// continue. A restart tries the event once more. A delay in the lane of `conflicts` delays no other
/// projection.
package final class Projector: Sendable {
    /// The lane of the projections that requests wait for.
    private let first: ProjectorLane
    private let lanes: [ProjectorLane]
    private let statusStore: any ProjectionStatusStore
    private let onFault: @Sendable (String) -> Void

    /// Creates a projector, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - configuration: the limits.
    ///   - status: the progress of the tables.
    ///   - store: returns a new store for a lane.
    ///   - onAdvance: called after each commit that moved a checkpoint; must not block.
    ///   - onFault: called with one line, free of personal data, for each failure; must not block.
    package init(
        configuration: ProjectorConfiguration, status: any ProjectionStatusStore,
        store: () -> any ProjectionStore,
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.onFault = onFault
        statusStore = status
        func lane(_ projections: Set<ProjectionName>, pause: Duration) -> ProjectorLane {
            // What arrives within the pause is found after it.
            var paced = configuration
            paced.poll = max(configuration.poll, pause)
            return ProjectorLane(
                of: projections, pause: pause, configuration: paced, store: store(),
                onAdvance: onAdvance, onFault: onFault)
        }
        first = lane(
            Set(ProjectionName.allCases).subtracting([.conflicts]), pause: configuration.pause)
        lanes = [first, lane([.conflicts], pause: configuration.conflictsPause)]
    }

    /// Folds until the task is cancelled; survives an outage of the database.
    package func run() async {
        await clearFailures()
        await withDiscardingTaskGroup { group in
            for lane in lanes { group.addTask { await lane.run() } }
        }
        await statusStore.close()
    }

    /// Clears the failures of stopped tables, so that they try again, once the database can be reached.
    private func clearFailures() async {
        var backoff = Duration.zero
        while !Task.isCancelled {
            do {
                return try await statusStore.clearFailures()
            } catch {
                onFault("the projector cannot reach its tables: \(error)")
                backoff = ProjectorLane.next(backoff)
                _ = try? await Task.sleep(for: backoff)
                for lane in lanes { lane.beat() }
            }
        }
    }

    /// Starts a round over all tenants soon; never blocks.
    package func wake() {
        for lane in lanes { lane.wake(for: nil) }
    }

    /// Starts a round over the tenants of a commit soon; never blocks.
    ///
    /// To be called after each commit.
    package func wake(for appended: [TenantRecordings]) {
        for events in appended {
            guard let first = events.recordings.first?.recorded.position else { continue }
            let new = NewEvents(tenant: events.tenant, from: first)
            for lane in lanes { lane.wake(for: new) }
        }
    }

    /// Starts a round over a tenant even while commits gather; never blocks.
    ///
    /// To be called for a request that waits for an event that is not folded yet; `checkpoint` is that of the
    /// table that it reads, or nil without one, which a look over all tenants creates.
    package func wakeUrgently(for tenant: TenantID, from checkpoint: LogPosition?) {
        first.wakeUrgently(for: checkpoint.map { NewEvents(tenant: tenant, from: $0) })
    }

    /// Whether the loop that requests wait for ran within a time; an outage of the database does not stop it.
    package func isAlive(within limit: Duration = .seconds(30)) -> Bool {
        first.isAlive(within: limit)
    }

    /// Returns the progress of every projection of every tenant, read from the store.
    ///
    /// - Throws: the error of a database that cannot be read.
    package func status() async throws -> [ProjectionStatus] {
        try await statusStore.status()
    }
}
