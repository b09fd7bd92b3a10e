import Ledger
package import LedgerEngine
import Postgres

/// Rebuilds a read model into a new table while servers write, and then exchanges the two tables.
///
/// The new table is loaded, indexed, kept up to date by every projector beside the live one, compared with
/// it, and then served by the view; the old table is kept up to date for a rollback. Each step is one
/// transaction or can be repeated: if this process ends at any point, the view serves a complete table, and a
/// new start resumes or begins again.
package struct OnlineRebuild: Sendable {
    /// The maximum time for two tables to reach the same position.
    private static let patience = Duration.seconds(600)
    /// The maximum wait for the lease of a rebuild that was just killed.
    private static let leasePatience = Duration.seconds(Int(RebuildLease.seconds) + 2)
    /// The maximum wait for a lock on a table that is dropped.
    private static let lockPatience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(20)

    let session: Postgres.Session
    /// Renews the lease while the session is busy.
    private let leasing: Postgres.Session
    private let builder = UInt128.random(in: .min ... .max)
    private let store: PostgresProjectionStore
    private let folder: ProjectionFolder
    let disclosures: DisclosureReader
    private let onStep: @Sendable (OnlineRebuildStep) async throws -> Void

    /// Creates a rebuild.
    ///
    /// - Parameters:
    ///   - ownerURL: the URL of the login that owns the schema; tables and views are created by it.
    ///   - keyring: unwraps the keys of accounts.
    ///   - onStep: called after each step; an error it throws ends the rebuild there.
    package init(
        ownerURL: String, keyring: WrappingKeyring,
        onStep: @escaping @Sendable (OnlineRebuildStep) async throws -> Void = { _ in }
    ) {
        disclosures = DisclosureReader(keyring: keyring)
        self.onStep = onStep
        session = Postgres.Session(
            url: ownerURL, applicationName: "account-ledger rebuild",
            statementDeadline: .seconds(3600)
        ) {
            // A transaction left open would hold the lease.
            try OwnerConnection.prepare(
                $0,
                settings: ConnectionSettings.limits(idle: 10, lock: 0, statement: 0)
                    + "SET jit = off")
        }
        leasing = Postgres.Session(
            url: ownerURL, applicationName: "account-ledger rebuild lease",
            statementDeadline: .seconds(5)
        ) {
            try OwnerConnection.prepare(
                $0, settings: ConnectionSettings.limits(idle: 2, lock: 2, statement: 4))
        }
        let folding = Postgres.Session(
            url: ownerURL, applicationName: "account-ledger rebuild folding",
            statementDeadline: .seconds(15)
        ) { try OwnerConnection.prepare($0, settings: PostgresProjectionStore.settings) }
        store = PostgresProjectionStore(
            session: folding, disclosures: disclosures, recent: RecentEvents())
        folder = ProjectionFolder(
            store: store, batch: LogPage.eventsMax, onAdvance: { _ in }, onFault: { _ in })
    }

    /// Ends the lease, if it is still held, and closes the connections.
    package func close() async {
        // If that fails, the lease lapses.
        try? await leasing.run { [builder] connection in
            try RebuildLease.release(from: builder, on: connection)
        }
        await leasing.close()
        await store.close()
        await session.close()
    }

    /// Refuses keys under which disclosures would look damaged and the live tables would stop.
    private func checkKeys() async throws {
        if let missing = try await session.step({ try disclosures.missingKey(on: $0) }) {
            throw OnlineRebuildFault.keyIsMissing(missing)
        }
    }

    /// Rebuilds a projection for all tenants and serves the new table.
    ///
    /// - Throws: `OnlineRebuildFault` or `PostgresError`; the view is then unchanged.
    package func run(_ projection: ProjectionName) async throws -> OnlineRebuildReport {
        try await checkKeys()
        return try await leased(projection) { lease in
            let tables = try await session.step { try TableCreation.find(projection, on: $0) }
            for table in tables.leftovers { try await discard(table, lease) }
            try await onStep(.begun)
            let old = tables.served
            let new: ProjectionTable
            if let ready = tables.ready {
                new = ready
            } else {
                new = try await load(projection, beside: old, lease)
            }
            try await onStep(.ready)
            do {
                try await catchUp(old, new)
                try await onStep(.caughtUp)
                let comparison = try await compare(old, new)
                try await onStep(.compared)
                try await exchange(old, new, lease)
                try await onStep(.swapped)
                return OnlineRebuildReport(
                    served: new, previous: old, comparedRows: comparison.rows,
                    differences: comparison.differences, uncompared: comparison.uncompared)
            } catch let fault as OnlineRebuildFault {
                throw await reject(new, lease, after: fault)
            }
        }
    }

    /// Serves the previous table again; the served one becomes the previous one.
    ///
    /// - Throws: as ``run(_:)``.
    package func rollBack(_ projection: ProjectionName) async throws -> ProjectionTable {
        try await checkKeys()
        return try await leased(projection) { lease in
            let tables = try await session.step { try ProjectionTables.all(on: $0) }
                .filter { $0.table.projection == projection }
            guard let old = tables.first(where: { $0.state == .served })?.table,
                let new = tables.first(where: { $0.state == .previous })?.table
            else { throw OnlineRebuildFault.noPrevious(projection) }
            try await catchUp(old, new)
            try await exchange(old, new, lease)
            return new
        }
    }

    /// Drops the previous table; a rollback is no longer possible.
    ///
    /// - Throws: as ``run(_:)``.
    package func dropPrevious(_ projection: ProjectionName) async throws -> ProjectionTable {
        try await leased(projection) { lease in
            let previous = try await session.step { try ProjectionTables.all(on: $0) }
                .first { $0.table.projection == projection && $0.state == .previous }
            guard let previous else { throw OnlineRebuildFault.noPrevious(projection) }
            try await retryWhileLocked(on: previous.table) { connection in
                try TableExchange.drop(previous.table, under: lease, on: connection)
            }
            return previous.table
        }
    }

    /// Creates, loads and indexes a new table; no projector folds into it before it is ready.
    private func load(
        _ projection: ProjectionName, beside old: ProjectionTable, _ lease: RebuildLease
    ) async throws -> ProjectionTable {
        let new = try await session.step { connection in
            try TableCreation.make(projection, beside: old, under: lease, on: connection)
        }
        try await onStep(.made)
        do {
            try await session.step { connection in
                try TableCreation.load(
                    new, beside: old, under: lease, with: disclosures, on: connection)
            }
        } catch let fault as OnlineRebuildFault {
            throw await reject(new, lease, after: fault)
        }
        try await onStep(.loaded)
        try await session.step { try TableCreation.index(new, under: lease, on: $0) }
        try await onStep(.indexed)
        try await session.step { try TableCreation.markReady(new, under: lease, on: $0) }
        return new
    }

    /// Drops a table that will not be served, and returns the fault to end with.
    private func reject(
        _ table: ProjectionTable, _ lease: RebuildLease, after fault: OnlineRebuildFault
    ) async -> OnlineRebuildFault {
        do {
            try await discard(table, lease)
            return fault
        } catch {
            return .left(table, after: fault, because: "\(error)")
        }
    }

    /// Drops a useless table; if that fails, takes it out of use so that no projector folds into it.
    ///
    /// - Throws: `OnlineRebuildFault.isLocked`.
    private func discard(_ table: ProjectionTable, _ lease: RebuildLease) async throws {
        try await retryWhileLocked(on: table) { connection in
            try TableExchange.retire(table, under: lease, on: connection)
        }
        try await retryWhileLocked(on: table) { connection in
            try TableExchange.drop(table, under: lease, on: connection)
        }
    }

    /// Retries until nothing holds a conflicting lock.
    ///
    /// - Throws: `OnlineRebuildFault.isLocked` when that takes too long.
    private func retryWhileLocked(
        on table: ProjectionTable, _ attempt: @Sendable (Connection) throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + Self.lockPatience
        while try await !session.step(attempt) {
            guard ContinuousClock.now < deadline else {
                throw OnlineRebuildFault.isLocked(table.description)
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Folds, beside any server, until the new table is within a page of the old one and as complete.
    private func catchUp(_ old: ProjectionTable, _ new: ProjectionTable) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let round = try await folder.round()
            let lag = try await session.step { try TableExchange.lag(old, new, on: $0) }
            guard let lag else { return }
            if lag.isPermanent || ContinuousClock.now > deadline {
                throw OnlineRebuildFault.remainsBehind(new, lag.tenant, reason: lag.reason)
            }
            if !round.hasFolded { try await Task.sleep(for: Self.pause) }
        }
    }

    /// Compares the tables in snapshots in which both are at the same position.
    private func compare(
        _ old: ProjectionTable, _ new: ProjectionTable
    ) async throws -> TableComparison {
        let deadline = ContinuousClock.now + Self.patience
        var comparison = TableComparison(old: old, new: new)
        while true {
            comparison = try await session.step { [comparison] connection in
                var next = comparison
                try next.take(on: connection)
                return next
            }
            if let difference = comparison.differences.first, old.version == new.version {
                throw OnlineRebuildFault.differs(difference)
            }
            guard let apart = comparison.apart.sorted().first else { return comparison }
            guard ContinuousClock.now < deadline else {
                throw OnlineRebuildFault.remainsBehind(new, apart, reason: "timed out")
            }
            try await catchUp(old, new)
        }
    }

    /// Serves the new table, as soon as no fold is in progress and nothing locks the view.
    private func exchange(
        _ old: ProjectionTable, _ new: ProjectionTable, _ lease: RebuildLease
    ) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let outcome = try await session.step { connection in
                try TableExchange.exchange(old, new, under: lease, on: connection)
            }
            switch outcome {
            case .done: return
            case .behind: try await catchUp(old, new)
            // Readers of the view queue behind each attempt, so attempts are rare and short.
            case .locked: try await Task.sleep(for: Self.pause * 50)
            }
            guard ContinuousClock.now < deadline else {
                throw OnlineRebuildFault.isLocked(old.projection.rawValue)
            }
        }
    }

    /// Runs a body while no other process rebuilds the projection.
    ///
    /// - Throws: the body's error; `OnlineRebuildFault.isRunning`; `OnlineRebuildFault.leaseLost` when the body
    ///   failed because the lease is no longer this process's.
    private func leased<Value: Sendable>(
        _ projection: ProjectionName, _ body: (RebuildLease) async throws -> Value
    ) async throws -> Value {
        let lease = RebuildLease(projection: projection, builder: builder)
        let deadline = ContinuousClock.now + Self.leasePatience
        while try await !leasing.run({ try lease.take(on: $0) }) {
            guard ContinuousClock.now < deadline else {
                throw OnlineRebuildFault.isRunning(projection)
            }
            try await Task.sleep(for: Self.pause)
        }
        async let _: Void = renew(lease)
        do {
            return try await body(lease)
        } catch let error as PostgresError {
            // After a lost connection, the exchange that ends the lease may have been committed.
            guard case .server = error else { throw error }
            let isOurs = try? await leasing.run { try lease.renew(on: $0) }
            throw isOurs == false ? OnlineRebuildFault.leaseLost : error
        }
    }

    /// Renews a lease until it is lost or the task is cancelled.
    private func renew(_ lease: RebuildLease) async {
        var isOurs = true
        while isOurs, !Task.isCancelled {
            // A cancelled sleep ends the loop.
            try? await Task.sleep(for: RebuildLease.renewalInterval)
            guard !Task.isCancelled else { return }
            // A lost connection is replaced by the next attempt.
            isOurs = (try? await leasing.run { try lease.renew(on: $0) }) ?? true
        }
    }
}

/// A connection that acts as the owner of the tables, so that all tables keep the same owner.
enum OwnerConnection {
    private static let owner = Statement(
        "rebuild_owner",
        """
        SELECT pg_get_userbyid(c.relowner)::text AS owner, c.relowner = r.oid AS is_owner
        FROM pg_catalog.pg_class c, pg_catalog.pg_roles r
        WHERE c.oid = 'public.events'::regclass AND r.rolname = current_user
        """)

    static func prepare(_ connection: Connection, settings: String) throws {
        try connection.execute(settings)
        let row = try connection.query(owner)
        if row.rowCount == 1, try !row.bool(0, row.column("is_owner")) {
            try connection.execute(
                "SET ROLE \(quoteIdentifier(try row.text(0, row.column("owner"))))")
        }
    }
}
