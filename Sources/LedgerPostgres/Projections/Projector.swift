import Ledger
import Postgres

/// Folds the log into the read models, from checkpoints, exactly once.
///
/// A transaction writes rows and moves the checkpoints of their tables together. Several processes
/// may each run a projector on the same database: the checkpoint's row is the lease. It folds into
/// every live table of a projection, as it finds them at each look, so that a rebuild needs no
/// restart. A table that cannot fold an event stops there and says so in `projections.failure`;
/// other tables and other tenants go on. A restart tries the event once more. What keeps the lane
/// of `conflicts` keeps nothing else.
package final class Projector: Sendable {
    /// Folds what requests wait for.
    private let first: ProjectorLane
    private let lanes: [ProjectorLane]
    private let statusSession: Postgres.Session
    private let onFault: @Sendable (String) -> Void

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

    /// Folds until the task is cancelled; survives a database that goes away and comes back.
    package func run() async {
        await clearFailures()
        await withDiscardingTaskGroup { group in
            for lane in lanes { group.addTask { await lane.run() } }
        }
        await statusSession.close()
    }

    /// Lets stopped tables try again, as soon as the database can be reached.
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

    /// Makes the projector look at once; never blocks.
    ///
    /// To be called after each commit.
    package func wake() {
        for lane in lanes { lane.wake() }
    }

    /// Makes the projector look even while it lets commits gather; never blocks.
    ///
    /// To be called for somebody who waits for what is not folded yet.
    package func hurry() {
        first.hurry()
    }

    /// Whether the loop that requests wait for has come by within a time; a database that is away does not
    /// stop it.
    package func isAlive(within limit: Duration = .seconds(30)) -> Bool {
        first.isAlive(within: limit)
    }

    /// How far every projection of every tenant has come, read from the database.
    ///
    /// - Throws: `PostgresError` when the database cannot say.
    package func status() async throws -> [ProjectionStatus] {
        try await statusSession.run { try ProjectionStatus.all(on: $0) }
    }
}
