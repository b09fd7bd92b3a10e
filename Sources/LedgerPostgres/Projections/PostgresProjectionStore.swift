import Ledger
import LedgerEngine
import Postgres

/// The projector's store in production: checkpoints, log and tables in one Postgres database.
struct PostgresProjectionStore: ProjectionStore {
    /// Settings of the connection that folds.
    ///
    /// Losing the last commits in a crash is harmless, because checkpoint and rows are lost together and
    /// folded again. Every statement looks up few keys, and the planner must not choose a scan for that while
    /// tables are young.
    static let settings =
        ConnectionSettings.asynchronousCommit
        + ConnectionSettings.limits(idle: 2, lock: 2, statement: 10)
        + ConnectionSettings.lookups

    /// The time to list what is behind, to read a page or to open a transaction, while nodes of Citus are known.
    private static let nodeMax = Duration.seconds(3)

    private let session: Postgres.Session
    private let disclosures: DisclosureReader
    private let recent: RecentEvents
    private let nodes: TenantNodes?
    private let cache = AccountStateCache()
    /// The checkpoints that the open transaction has locked.
    private let held = LockedMarkers()

    /// Creates a store over a session that has no other user.
    ///
    /// Positions found in `recent` are not read from the log; `nodes` are those of the tenants on Citus.
    init(
        session: Postgres.Session, disclosures: DisclosureReader, recent: RecentEvents,
        nodes: TenantNodes? = nil
    ) {
        self.session = session
        self.nodes = nodes
        self.disclosures = disclosures
        self.recent = recent
    }

    /// Creates a projector's store with a connection of its own.
    init(url: String, keyring: WrappingKeyring, recent: RecentEvents, nodes: TenantNodes?) {
        let session = Postgres.Session(
            url: url, applicationName: LockHolderName.projector.rawValue,
            statementDeadline: .seconds(11)
        ) {
            // The new connection may reach another database, after a failover or a restore, which may lack
            // the last events.
            recent.forget()
            try $0.execute(Self.settings)
        }
        self.init(
            session: session, disclosures: DisclosureReader(keyring: keyring), recent: recent,
            nodes: nodes)
    }

    var taskExecutor: (any TaskExecutor)? { session.taskExecutor }

    /// Returns the tables of every tenant that are behind; while a node of Citus fails, those of the other nodes.
    func backlogs(of projections: Set<ProjectionName>) async throws -> [ProjectionBacklog] {
        guard let nodes, !nodes.reachable().isEmpty else {
            return try await backlogs(of: projections, in: nil)
        }
        if !nodes.allFailed {
            do {
                return try await backlogs(of: projections, in: nil, within: Self.nodeMax)
            } catch let error where Self.mayBeOfNode(error) {
                nodes.noteFailureOfAll()
            }
        }
        var found: [ProjectionBacklog] = []
        for (lane, tenants) in nodes.reachable() {
            do {
                found += try await backlogs(
                    of: projections, in: tenants, within: Self.nodeMax)
            } catch let error where Self.mayBeOfNode(error) {
                nodes.noteFailure(of: lane)
            }
        }
        return found
    }

    /// Returns the live tables for each of the tenants whose node has not failed lately; asks no shard.
    ///
    /// Tenants that move to another database are left out, as in a look.
    func backlogs(
        of projections: Set<ProjectionName>, from named: [NewEvents]
    ) async throws -> [ProjectionBacklog] {
        let reachable = named.filter { nodes?.isReachable($0.tenant) ?? true }
        return try await session.step { connection in
            try Self.mappingErrors { () throws(PostgresError) -> [ProjectionBacklog] in
                let tables = try ProjectionTables.live(on: connection).map(\.table)
                    .filter { projections.contains($0.projection) && $0.isKnown }
                let moves = try TenantMove.all(on: connection)
                return reachable.filter { moves[$0.tenant] == nil }.map { events in
                    ProjectionBacklog(
                        tenant: events.tenant,
                        tables: tables.map {
                            ProjectionBacklog.Behind(table: $0, position: events.from)
                        })
                }
            }
        }
    }

    /// Whether a node may be the reason of an error: the coordinator was reached.
    ///
    /// One that waits for a silent node does not even answer a statement that it has cancelled.
    private static func mayBeOfNode(_ error: any Error) -> Bool {
        switch error {
        case PostgresError.timedOut, PostgresError.connectionLost: true
        default: error is ProjectionDelay
        }
    }

    private func backlogs(
        of projections: Set<ProjectionName>, in tenants: [TenantID]?, within limit: Duration? = nil
    ) async throws -> [ProjectionBacklog] {
        try await session.step(within: limit) { connection in
            try Self.mappingErrors { () throws(PostgresError) in
                try Checkpoints.backlogs(of: projections, in: tenants, on: connection)
            }
        }
    }

    func page(
        of tenant: TenantID, from: LogPosition, limit: Int
    ) async throws -> LogPage {
        if let page = recent.page(of: tenant, from: from, limit: limit) { return page }
        let disclosures = disclosures
        return try await step(asking: tenant) { connection throws(PostgresError) in
            try LogPage.read(
                from: from, in: tenant, limit: limit, disclosures: disclosures, on: connection)
        }
    }

    func open(
        _ tables: [ProjectionTable], of tenant: TenantID, for events: ArraySlice<DisclosedEvent>
    ) async throws -> [HeldCheckpoint] {
        // The conflicts of a page have no limit: they may take long on a node that is well, and no request waits.
        let isLimited = !tables.contains { $0.projection == .conflicts }
        return try await step(asking: tenant, isLimited: isLimited) {
            connection throws(PostgresError) in
            try self.open(tables, of: tenant, for: events, on: connection)
        }
    }

    /// Runs statements of one tenant; if they are limited and take too long, its node counts as failed.
    private func step<Value: Sendable>(
        asking tenant: TenantID, isLimited: Bool = true,
        _ body: @Sendable (Connection) throws(PostgresError) -> Value
    ) async throws -> Value {
        let nodes = isLimited ? nodes : nil
        do {
            return try await session.step(within: nodes.map { _ in Self.nodeMax }) { connection in
                try Self.mappingErrors { () throws(PostgresError) in try body(connection) }
            }
        } catch PostgresError.timedOut {
            nodes?.noteFailure(toReach: tenant)
            throw PostgresError.timedOut
        }
    }

    func commit(_ steps: [ProjectionStep], of tenant: TenantID) async throws {
        try await session.step { connection in
            // A connection lost since the checkpoints were locked has been replaced, and its locks are gone.
            guard connection.isInTransaction else {
                throw PostgresError.connectionLost("the transaction was lost")
            }
            try Self.mappingErrors { () throws(PostgresError) in
                try self.commit(steps, of: tenant, on: connection)
            }
        }
    }

    func abandon() async {
        try? await session.step { $0.rollBack() }
    }

    func close() async {
        await session.close()
    }

    private func open(
        _ tables: [ProjectionTable], of tenant: TenantID,
        for events: ArraySlice<DisclosedEvent>, on connection: Connection
    ) throws(PostgresError) -> [HeldCheckpoint] {
        var calls = [Call(.begin), Checkpoints.call(tables, of: tenant, .skip)]
        var loads: [AccountStateLoad] = []
        // A lane folds some of the projections; keys needed only by others are not collected.
        let audits = tables.filter { $0.projection == .accountAudit }
        if !audits.isEmpty {
            let touched = TouchedAccounts(events)
            for table in audits {
                var load = AccountStateLoad(table, of: tenant, touched: touched, cache: cache)
                load.firstResult = calls.count
                calls += load.calls
                loads.append(load)
            }
        }
        var conflictLoads: [ProjectionTable: Int] = [:]
        let claims = tables.filter { $0.projection == .conflicts }
        if !claims.isEmpty {
            let keys = ConflictFold.Keys(events.lazy.map { $0.recorded.event })
            for table in claims where !keys.isEmpty {
                conflictLoads[table] = calls.count
                calls.append(
                    ConflictsTable(table.description)
                        .load(keys, of: tenant, on: try DatabaseEngine(of: connection)))
            }
        }
        let results: [QueryResult]
        do throws(PostgresError) {
            results = try connection.pipeline(calls)
        } catch {
            // The table has been dropped since its checkpoint was read.
            guard error.state == .undefinedTable else { throw error }
            connection.rollBack()
            return []
        }
        var found: [HeldCheckpoint] = []
        var markers: [ProjectionTable: AccountStateCache.Marker] = [:]
        for checkpoint in try Checkpoints.checkpoints(results[1], of: tables) {
            markers[checkpoint.table] = checkpoint.marker
            var historyStates: [AccountID: AccountAuditFold.HistoryState] = [:]
            if let load = loads.first(where: { $0.table == checkpoint.table }) {
                historyStates = try load.historyStates(
                    results, held: checkpoint.marker, on: connection)
            }
            var conflicts: [Conflict] = []
            if let index = conflictLoads[checkpoint.table] {
                for row in 0..<results[index].rowCount {
                    conflicts.append(try ConflictsTable.read(results[index], row))
                }
            }
            found.append(
                HeldCheckpoint(
                    table: checkpoint.table, position: checkpoint.position,
                    version: checkpoint.version, failure: checkpoint.failure,
                    historyStates: historyStates, conflicts: conflicts))
        }
        held.set(markers)
        if found.isEmpty { connection.rollBack() }
        return found
    }

    private func commit(
        _ steps: [ProjectionStep], of tenant: TenantID, on connection: Connection
    ) throws(PostgresError) {
        var rows = CopyRows()
        for step in steps {
            let name = step.table.description
            switch step.rows {
            case nil: break
            case .userProviders(let steps):
                try UserProvidersTable(name)
                    .write(steps, of: tenant, through: &rows, on: connection)
            case .accountAudit(let added):
                try AccountAuditTable(name)
                    .write(added, of: tenant, through: &rows, on: connection)
            case .conflicts(let changes):
                try ConflictsTable(name)
                    .write(changes, of: tenant, through: &rows, on: connection)
            }
        }
        let results = try connection.pipeline([
            Checkpoints.moveCall(steps, of: tenant), Call(.commit),
        ])
        for step in steps {
            guard case .accountAudit(let added) = step.rows, let moved = results.first else {
                continue
            }
            cache.take(
                added, of: tenant, in: step.table, from: held.marker(of: step.table),
                to: try Checkpoints.marker(moved, of: step))
        }
    }

    /// Maps database errors to projection errors by how they are handled.
    private static func mappingErrors<Value>(
        _ body: () throws(PostgresError) -> Value
    ) throws -> Value {
        do throws(PostgresError) {
            return try body()
        } catch {
            switch WriteFault(error) {
            case .pageRefused(let reason): throw ProjectionRefusal(reason: reason)
            case .databaseFailed(.server(let refusal)):
                throw ProjectionDelay(reason: refusal.description)
            case .databaseFailed(let error): throw error
            }
        }
    }
}
