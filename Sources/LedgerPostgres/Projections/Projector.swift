import Ledger
import Postgres

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
    private let statusSession: Postgres.Session
    private let onFault: @Sendable (String) -> Void

    /// Creates a projector, which works once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - configuration: the database and the limits.
    ///   - keyring: unwraps the keys of accounts.
    ///   - recent: the events that this process appended last.
    ///   - onAdvance: called after each commit that moved a checkpoint; must not block.
    ///   - onFault: called with one line, free of personal data, for each failure; must not block.
    package init(
        configuration: ProjectorConfiguration, keyring: WrappingKeyring,
        recent: RecentEvents = RecentEvents(),
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void = { _ in },
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.onFault = onFault
        func lane(_ projections: Set<ProjectionName>, pause: Duration) -> ProjectorLane {
            ProjectorLane(
                of: projections, pause: pause, configuration: configuration, keyring: keyring,
                recent: recent, onAdvance: onAdvance, onFault: onFault)
        }
        first = lane(
            Set(ProjectionName.allCases).subtracting([.conflicts]), pause: configuration.pause)
        lanes = [first, lane([.conflicts], pause: configuration.conflictsPause)]
        statusSession = Postgres.Session(
            url: configuration.url, applicationName: "account-ledger projector status",
            statementDeadline: .seconds(5)
        ) { try $0.execute(ConnectionSettings.lookups) }
    }

    /// Folds until the task is cancelled; survives an outage of the database.
    package func run() async {
        await clearFailures()
        await withDiscardingTaskGroup { group in
            for lane in lanes { group.addTask { await lane.run() } }
        }
        await statusSession.close()
    }

    /// Clears the failures of stopped tables, so that they try again, once the database can be reached.
    private func clearFailures() async {
        var backoff = Duration.zero
        while !Task.isCancelled {
            do {
                return try await statusSession.run { try Checkpoints.clearFailures(on: $0) }
            } catch {
                onFault("the projector cannot reach its tables: \(error)")
                backoff = ProjectorLane.next(backoff)
                _ = try? await Task.sleep(for: backoff)
                for lane in lanes { lane.beat() }
            }
        }
    }

    /// Starts a round of the projector soon; never blocks.
    ///
    /// To be called after each commit.
    package func wake() {
        for lane in lanes { lane.wake() }
    }

    /// Starts a round even while commits gather; never blocks.
    ///
    /// To be called for a request that waits for an event that is not folded yet.
    package func wakeUrgently() {
        first.wakeUrgently()
    }

    /// Whether the loop that requests wait for ran within a time; an outage of the database does not stop it.
    package func isAlive(within limit: Duration = .seconds(30)) -> Bool {
        first.isAlive(within: limit)
    }

    /// Returns the progress of every projection of every tenant, read from the database.
    ///
    /// - Throws: `PostgresError` when the database cannot be read.
    package func status() async throws -> [ProjectionStatus] {
        try await statusSession.run { try ProjectionStatus.all(on: $0) }
    }
}
