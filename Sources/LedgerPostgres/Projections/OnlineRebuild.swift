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
    /// The maximum wait for the lock of a rebuild that was just killed.
    private static let lockPatience = Duration.seconds(10)
    private static let pause = Duration.milliseconds(20)

    let session: Postgres.Session
    private let store: PostgresProjectionStore
    private let folder: ProjectionFolder
    let disclosures: DisclosureReader
    private let onStep: @Sendable (OnlineRebuildStep) throws -> Void

    /// Creates a rebuild.
    ///
    /// - Parameters:
    ///   - ownerURL: the URL of the login that owns the schema; tables and views are created by it.
    ///   - keyring: unwraps the keys of accounts.
    ///   - onStep: called after each step; an error it throws ends the rebuild there.
    package init(
        ownerURL: String, keyring: WrappingKeyring,
        onStep: @escaping @Sendable (OnlineRebuildStep) throws -> Void = { _ in }
    ) {
        disclosures = DisclosureReader(keyring: keyring)
        self.onStep = onStep
        session = Postgres.Session(
            url: ownerURL, applicationName: "account-ledger rebuild",
            statementDeadline: .seconds(3600)
        ) { try OwnerConnection.prepare($0, settings: "SET jit = off") }
        let folding = Postgres.Session(
            url: ownerURL, applicationName: "account-ledger rebuild folding",
            statementDeadline: .seconds(15)
        ) { try OwnerConnection.prepare($0, settings: PostgresProjectionStore.settings) }
        store = PostgresProjectionStore(
            session: folding, disclosures: disclosures, recent: RecentEvents())
        folder = ProjectionFolder(
            store: store, batch: LogPage.eventsMax, onAdvance: { _ in }, onFault: { _ in })
    }

    /// Closes the connections.
    package func close() async {
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
        return try await locked(projection) { lock in
            let tables = try await lock.run { try TableCreation.find(projection, on: $0) }
            for table in tables.leftovers { try await discard(table, lock: lock) }
            try onStep(.begun)
            let old = tables.served
            let new: ProjectionTable
            if let ready = tables.ready {
                new = ready
            } else {
                new = try await load(projection, beside: old, lock: lock)
            }
            try onStep(.ready)
            do {
                try await catchUp(old, new)
                try onStep(.caughtUp)
                let comparison = try await compare(old, new, lock: lock)
                try onStep(.compared)
                try await exchange(old, new, lock: lock)
                try onStep(.swapped)
                return OnlineRebuildReport(
                    served: new, previous: old, comparedRows: comparison.rows,
                    differences: comparison.differences, uncompared: comparison.uncompared)
            } catch let fault as OnlineRebuildFault {
                throw await reject(new, lock: lock, after: fault)
            }
        }
    }

    /// Serves the previous table again; the served one becomes the previous one.
    ///
    /// - Throws: as ``run(_:)``.
    package func rollBack(_ projection: ProjectionName) async throws -> ProjectionTable {
        try await checkKeys()
        return try await locked(projection) { lock in
            let tables = try await lock.run { try ProjectionTables.all(on: $0) }
                .filter { $0.table.projection == projection }
            guard let old = tables.first(where: { $0.state == .served })?.table,
                let new = tables.first(where: { $0.state == .previous })?.table
            else { throw OnlineRebuildFault.noPrevious(projection) }
            try await catchUp(old, new)
            try await exchange(old, new, lock: lock)
            return new
        }
    }

    /// Drops the previous table; a rollback is no longer possible.
    ///
    /// - Throws: as ``run(_:)``.
    package func dropPrevious(_ projection: ProjectionName) async throws -> ProjectionTable {
        try await locked(projection) { lock in
            let previous = try await lock.run { try ProjectionTables.all(on: $0) }
                .first { $0.table.projection == projection && $0.state == .previous }
            guard let previous else { throw OnlineRebuildFault.noPrevious(projection) }
            try await retryWhileLocked(on: previous.table, lock: lock, TableExchange.drop)
            return previous.table
        }
    }

    /// Creates, loads and indexes a new table; no projector folds into it before it is ready.
    private func load(
        _ projection: ProjectionName, beside old: ProjectionTable, lock: RebuildLock
    ) async throws -> ProjectionTable {
        let new = try await lock.run { try TableCreation.make(projection, beside: old, on: $0) }
        try onStep(.made)
        do {
            try await lock.run { connection in
                try TableCreation.load(new, beside: old, with: disclosures, on: connection)
            }
        } catch let fault as OnlineRebuildFault {
            throw await reject(new, lock: lock, after: fault)
        }
        try onStep(.loaded)
        try await lock.run { try TableCreation.index(new, on: $0) }
        try onStep(.indexed)
        try await lock.run { try TableCreation.markReady(new, on: $0) }
        return new
    }

    /// Drops a table that will not be served, and returns the fault to end with.
    private func reject(
        _ table: ProjectionTable, lock: RebuildLock, after fault: OnlineRebuildFault
    ) async -> OnlineRebuildFault {
        // The table then belongs to the process that holds the lock.
        if case .lockLost = fault { return fault }
        do {
            try await discard(table, lock: lock)
            return fault
        } catch {
            return .left(table, after: fault, because: "\(error)")
        }
    }

    /// Drops a useless table; if that fails, takes it out of use so that no projector folds into it.
    ///
    /// - Throws: `OnlineRebuildFault.isLocked`.
    private func discard(_ table: ProjectionTable, lock: RebuildLock) async throws {
        try await retryWhileLocked(on: table, lock: lock, TableExchange.retire)
        try await retryWhileLocked(on: table, lock: lock, TableExchange.drop)
    }

    /// Retries until nothing holds a conflicting lock.
    ///
    /// - Throws: `OnlineRebuildFault.isLocked` when that takes too long.
    private func retryWhileLocked(
        on table: ProjectionTable, lock: RebuildLock,
        _ attempt: @Sendable (ProjectionTable, Connection) throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + Self.lockPatience
        while try await !lock.run({ try attempt(table, $0) }) {
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
        _ old: ProjectionTable, _ new: ProjectionTable, lock: RebuildLock
    ) async throws -> TableComparison {
        let deadline = ContinuousClock.now + Self.patience
        var comparison = TableComparison(old: old, new: new)
        while true {
            comparison = try await lock.run { [comparison] connection in
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
        _ old: ProjectionTable, _ new: ProjectionTable, lock: RebuildLock
    ) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            switch try await lock.run({ try TableExchange.exchange(old, new, on: $0) }) {
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
    private func locked<Value: Sendable>(
        _ projection: ProjectionName, _ body: (RebuildLock) async throws -> Value
    ) async throws -> Value {
        let deadline = ContinuousClock.now + Self.lockPatience
        while true {
            let holder = try await session.step { connection in
                try RebuildLock.take(projection, on: connection)
            }
            if let holder {
                return try await body(RebuildLock(session: session, backend: holder))
            }
            guard ContinuousClock.now < deadline else {
                throw OnlineRebuildFault.isRunning(projection)
            }
            try await Task.sleep(for: Self.pause)
        }
    }
}

/// The advisory lock of one projection's rebuild, held by one connection.
struct RebuildLock: Sendable {
    /// "rebu" in ASCII: distinguishes these locks from the migrator's.
    static let space: Int32 = 0x7265_6275

    private static let tryLock = Statement(
        "rebuild_lock", "SELECT pg_try_advisory_lock($1::int, hashtext($2::text))")

    let session: Postgres.Session
    /// The backend process that holds the lock.
    let backend: Int32

    /// Returns the backend that now holds the lock, or nil when another one holds it.
    static func take(
        _ projection: ProjectionName, on connection: Connection
    ) throws(PostgresError) -> Int32? {
        let result = try connection.query(tryLock, [.int4(space), .text(projection.rawValue)])
        return try result.bool(0, 0) ? connection.backendProcessID : nil
    }

    /// Runs a body on the connection that holds the lock.
    ///
    /// - Throws: `OnlineRebuildFault.lockLost` when the connection is lost.
    func run<Value: Sendable>(
        _ body: @Sendable (Connection) throws -> Value
    ) async throws -> Value {
        try await session.step { [backend] connection in
            guard connection.backendProcessID == backend else {
                throw OnlineRebuildFault.lockLost
            }
            return try body(connection)
        }
    }
}

/// A connection that acts as the owner of the tables, so that all tables keep the same owner.
enum OwnerConnection {
    private static let owner = Statement(
        "rebuild_owner",
        """
        SELECT pg_get_userbyid(c.relowner)::text, c.relowner = r.oid
        FROM pg_catalog.pg_class c, pg_catalog.pg_roles r
        WHERE c.oid = 'public.events'::regclass AND r.rolname = current_user
        """)

    static func prepare(_ connection: Connection, settings: String) throws {
        try connection.execute(settings)
        let row = try connection.query(owner)
        if row.rowCount == 1, try !row.bool(0, 1) {
            try connection.execute("SET ROLE \(quoteIdentifier(try row.text(0, 0)))")
        }
    }
}
