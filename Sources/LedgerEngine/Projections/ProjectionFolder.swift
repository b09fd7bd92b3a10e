package import Ledger

/// Folds a page into every table that is behind: one round of the projector's loop, over any store.
///
/// Tables of one tenant at nearby positions share a page and a transaction. When a table refuses its rows,
/// each table is folded by itself, so that a failing event stops only its own table.
package struct ProjectionFolder: Sendable {
    /// The result of one round over all tenants.
    package struct Round: Sendable {
        /// Whether a checkpoint moved.
        package var hasFolded = false
        /// Whether a page was full, so that more events are likely to follow.
        package var hasFullPage = false
        /// Whether a look over all tenants is to follow soon: the page of a named tenant was full or empty.
        package var needsLook = false
        /// The tenants of which another process held a checkpoint, or one is missing.
        package var contended: Set<NewEvents> = []
        /// Whether the store refused something that is to be retried.
        package var hasFaults = false
    }

    private let store: any ProjectionStore
    private let projections: Set<ProjectionName>
    private let batch: Int
    private let onAdvance: @Sendable (ProjectionAdvance) -> Void
    private let onFault: @Sendable (String) -> Void

    /// Creates a folder.
    ///
    /// - Parameters:
    ///   - store: the log and the tables.
    ///   - projections: the projections to fold.
    ///   - batch: the maximum number of events in one page.
    ///   - onAdvance: called after each commit that moved a checkpoint; must not block.
    ///   - onFault: called with one line, free of personal data, for each failure; must not block.
    package init(
        store: any ProjectionStore,
        of projections: Set<ProjectionName> = Set(ProjectionName.allCases),
        batch: Int,
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.store = store
        self.projections = projections
        self.batch = max(1, batch)
        self.onAdvance = onAdvance
        self.onFault = onFault
    }

    /// Folds one page for each table of each tenant; ends early when the task is cancelled.
    ///
    /// - Parameters:
    ///   - named: the tenants to fold, from positions that may be before or after their checkpoints; nil for all
    ///     tenants that are behind.
    ///   - waiting: called before each of all tenants; returns those, named likewise, that are folded before it.
    ///   - beat: called before each page, as a sign of life.
    /// - Returns: the result of the round.
    /// - Throws: the store's errors other than a refusal or a delay, when it cannot be reached.
    package func round(
        of named: [NewEvents]? = nil, waiting: () -> [NewEvents] = { [] }, beat: () -> Void = {}
    ) async throws -> Round {
        var round = Round()
        if let named {
            try await fold(named, round: &round, beat: beat)
            return round
        }
        for backlog in try await store.backlogs(of: projections) {
            try await fold(waiting(), round: &round, beat: beat)
            try await fold(backlog, isNamed: false, round: &round, beat: beat)
        }
        return round
    }

    private func fold(
        _ named: [NewEvents], round: inout Round, beat: () -> Void
    ) async throws {
        guard !named.isEmpty else { return }
        for backlog in try await store.backlogs(of: projections, from: named) {
            try await fold(backlog, isNamed: true, round: &round, beat: beat)
        }
    }

    private func fold(
        _ backlog: ProjectionBacklog, isNamed: Bool, round: inout Round, beat: () -> Void
    ) async throws {
        var tables = backlog.tables[...]
        while let first = tables.first, !Task.isCancelled {
            beat()
            var taken = 1
            var earlier: [ProjectionBacklog.Behind] = []
            do {
                let page = try await store.page(
                    of: backlog.tenant, from: first.position, limit: batch)
                let sharing = tables.prefix { page.covers($0.position) }
                taken = max(1, sharing.count)
                let isFull = page.events.count >= batch
                if isNamed {
                    if isFull || page.events.isEmpty { round.needsLook = true }
                    // The log may end before the event, after a failover: that is no damage.
                    if page.events.isEmpty { break }
                } else if isFull {
                    round.hasFullPage = true
                }
                earlier = try await advance(
                    Array(sharing), of: backlog.tenant, with: page, round: &round)
            } catch let delay as ProjectionDelay {
                round.hasFaults = true
                onFault("\(first.table) of tenant \(backlog.tenant) waits: \(delay.reason)")
            }
            tables = earlier[...] + tables.dropFirst(taken)
        }
    }

    /// Folds a page into tables; after a refusal each is folded alone, with half as many events each time.
    ///
    /// Thus the events before the refused one are folded, and that one is named.
    /// - Returns: the tables whose checkpoints are before the page, with these.
    private func advance(
        _ tables: [ProjectionBacklog.Behind], of tenant: TenantID, with page: LogPage,
        round: inout Round
    ) async throws -> [ProjectionBacklog.Behind] {
        var limit = page.events.count
        while true {
            do {
                return try await fold(tables, of: tenant, page: page, limit: limit, round: &round)
            } catch let refusal as ProjectionRefusal {
                if tables.count > 1 {
                    var earlier: [ProjectionBacklog.Behind] = []
                    for table in tables {
                        earlier += try await advance(
                            [table], of: tenant, with: page, round: &round)
                    }
                    return earlier.sorted { $0.position < $1.position }
                }
                if limit > 1 {
                    limit /= 2
                    round.hasFullPage = true
                    continue
                }
                guard let table = tables.first else { return [] }
                try await stop(table, of: tenant, because: refusal.reason, round: &round)
                return []
            }
        }
    }

    /// Runs one transaction: locks and loads, folds, writes, moves the checkpoints and commits.
    ///
    /// - Returns: the tables whose checkpoints are before the page, with these.
    private func fold(
        _ tables: [ProjectionBacklog.Behind], of tenant: TenantID, page: LogPage, limit: Int,
        round: inout Round
    ) async throws -> [ProjectionBacklog.Behind] {
        guard let first = tables.first else { return [] }
        let guess = page.events(from: first.position, limit: limit)
        let held = try await store.open(tables.map(\.table), of: tenant, for: guess)
        let events = NewEvents(tenant: tenant, from: first.position)
        if held.count < tables.count { round.contended.insert(events) }
        let steps = held.compactMap { checkpoint in
            step(from: checkpoint, guess: guess, page: page)
        }
        let earlier = held.filter { $0.isFolded && $0.position < page.from }
            .map { ProjectionBacklog.Behind(table: $0.table, position: $0.position) }
            .sorted { $0.position < $1.position }
        guard !steps.isEmpty else {
            // A table that has stopped, or that another process has folded beyond the page, is done.
            if held.contains(where: { $0.isFolded && page.covers($0.position) }) {
                round.contended.insert(events)
            }
            await store.abandon()
            return earlier
        }
        try await store.commit(steps, of: tenant)
        conclude(steps, of: tenant, round: &round)
        return earlier
    }

    /// Returns the step of a table; nil when another process has folded beyond the page or stopped the table.
    private func step(
        from held: HeldCheckpoint, guess: ArraySlice<DisclosedEvent>, page: LogPage
    ) -> ProjectionStep? {
        guard held.isFolded, page.covers(held.position) else { return nil }
        // Another process may have moved the checkpoint since it was read; the locked row is current. Only
        // events with loaded state are folded.
        let events = guess.drop { $0.position < held.position }
        let isInGuess =
            events.first.map { $0.position == held.position }
            ?? (page.damage != nil && held.position == page.end)
        guard isInGuess else { return nil }
        let folded = held.table.fold(
            events, onto: held.historyStates, conflicts: held.conflicts)
        let reached = events.last?.position.next ?? held.position
        let fault = folded.fault ?? (reached == page.end ? page.damage : nil)
        return ProjectionStep(
            table: held.table, rows: folded.rows, position: folded.fault?.position ?? reached,
            failure: fault?.description)
    }

    /// Records that the event at the checkpoint cannot be folded.
    private func stop(
        _ behind: ProjectionBacklog.Behind, of tenant: TenantID, because reason: String,
        round: inout Round
    ) async throws {
        let held = try await store.open([behind.table], of: tenant, for: [])
        guard let checkpoint = held.first, checkpoint.position == behind.position else {
            round.contended.insert(NewEvents(tenant: tenant, from: behind.position))
            return await store.abandon()
        }
        let damage = LogDamage(position: checkpoint.position, fault: reason)
        let step = ProjectionStep(
            table: behind.table, rows: nil, position: checkpoint.position,
            failure: damage.description)
        try await store.commit([step], of: tenant)
        conclude([step], of: tenant, round: &round)
    }

    private func conclude(_ steps: [ProjectionStep], of tenant: TenantID, round: inout Round) {
        round.hasFolded = true
        for step in steps {
            if let failure = step.failure {
                onFault("\(step.table) of tenant \(tenant) stopped at \(failure)")
            }
            onAdvance(
                ProjectionAdvance(
                    tenant: tenant, projection: step.table.projection, table: step.table,
                    position: step.position))
        }
    }
}

extension LogPage {
    /// Returns at most `limit` events of the page, from a position on.
    package func events(from position: LogPosition, limit: Int) -> ArraySlice<DisclosedEvent> {
        events.dropFirst(Int(max(0, min(position.value - from.value, Int64(events.count)))))
            .prefix(limit)
    }
}
