import Ledger
import Postgres

/// Takes every projection that is behind one page further.
struct ProjectionFolder: Sendable {
    /// What one look at all tenants came to.
    struct Round: Sendable {
        /// Whether some checkpoint moved.
        var hasFolded = false
        /// Whether some page was full, so that there is probably more.
        var hasFullPage = false
        /// Whether another process held a checkpoint.
        var isContended = false
        /// Whether the database refused something that is worth trying again.
        var hasFaults = false
    }

    private let batch: Int
    private let disclosures: DisclosureReader
    private let onAdvance: @Sendable (ProjectionAdvance) -> Void
    private let onFault: @Sendable (String) -> Void

    init(
        batch: Int, disclosures: DisclosureReader,
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void,
        onFault: @escaping @Sendable (String) -> Void
    ) {
        self.batch = max(1, min(batch, LogReader.pageMax))
        self.disclosures = disclosures
        self.onAdvance = onAdvance
        self.onFault = onFault
    }

    /// Looks at all tenants once; ends early when the task is cancelled.
    ///
    /// Calls `beat` before each page, as a sign of life.
    /// - Throws: when the connection is lost or the checkpoints cannot be read.
    func round(
        on connection: Connection, beat: () -> Void
    ) throws(PostgresError) -> Round {
        var round = Round()
        let behind = try Checkpoints.behind(on: connection)
        try Checkpoints.make(behind.filter(\.isNew), on: connection)
        var page: (tenant: TenantID, page: LogPage)?
        for projection in behind where projection.position < projection.head {
            guard !Task.isCancelled else { break }
            beat()
            do throws(PostgresError) {
                // Projections of a tenant come in the order of their checkpoints and mostly share a
                // page.
                if page?.tenant != projection.tenant
                    || page?.page.covers(projection.position) != true
                {
                    page = (
                        tenant: projection.tenant,
                        page: try LogPage.read(
                            from: projection.position, in: projection.tenant, limit: batch,
                            disclosures: disclosures, on: connection)
                    )
                }
                guard let page = page?.page else { continue }
                if page.events.count == batch { round.hasFullPage = true }
                try advance(projection, with: page, on: connection, round: &round)
            } catch {
                guard connection.isUsable else { throw error }
                connection.rollBack()
                round.hasFaults = true
                onFault("\(projection.name) of tenant \(projection.tenant) waits: \(error)")
            }
        }
        return round
    }

    /// Folds what a page holds for one projection; a page that is refused is tried in halves, until
    /// what is before the refused event is folded and the event itself is named.
    private func advance(
        _ behind: Checkpoints.Behind, with page: LogPage, on connection: Connection,
        round: inout Round
    ) throws(PostgresError) {
        var limit = page.events.count
        while true {
            do throws(PostgresError) {
                let outcome = try fold(behind, page: page, limit: limit, on: connection)
                return conclude(outcome, of: behind, round: &round)
            } catch {
                guard case .ofThePage(let fault) = WriteFault(error) else { throw error }
                connection.rollBack()
                if limit > 1 {
                    limit /= 2
                    round.hasFullPage = true
                    continue
                }
                return conclude(
                    try stop(behind, page: page, fault: fault, on: connection), of: behind,
                    round: &round)
            }
        }
    }

    private enum Outcome {
        case moved(to: LogPosition, failure: String?)
        case contended
    }

    private func conclude(
        _ outcome: Outcome, of behind: Checkpoints.Behind, round: inout Round
    ) {
        switch outcome {
        case .contended:
            round.isContended = true
        case .moved(let position, let failure):
            round.hasFolded = true
            if let failure {
                onFault("\(behind.name) of tenant \(behind.tenant) stopped at \(failure)")
            }
            onAdvance(
                ProjectionAdvance(
                    tenant: behind.tenant, projection: behind.name, position: position))
        }
    }

    /// One transaction of two round trips: lock and load, then write, move the checkpoint and
    /// commit.
    private func fold(
        _ behind: Checkpoints.Behind, page: LogPage, limit: Int, on connection: Connection
    ) throws(PostgresError) -> Outcome {
        let projection = behind.name.projection()
        let tenant = behind.tenant
        let guess = page.events(from: behind.position, limit: limit)
        let loaded = try connection.pipeline(
            [Call(.begin), Checkpoints.leaseCall(behind.name, in: tenant)]
                + projection.loads(for: guess, in: tenant))
        guard let lease = try Checkpoints.lease(loaded[1]), lease.failure == nil,
            lease.version == projection.version, lease.position >= behind.position,
            page.covers(lease.position)
        else {
            connection.rollBack()
            return .contended
        }
        // Another process may have moved the checkpoint since it was read; the lock tells. Only
        // what was loaded for is folded.
        let events = guess.drop { $0.position < lease.position }
        guard !events.isEmpty || page.damage != nil else {
            connection.rollBack()
            return .contended
        }
        let folded = try projection.fold(events, onto: Array(loaded.dropFirst(2)), in: tenant)
        let reached = events.last?.position.next ?? lease.position
        let fault = folded.fault ?? (reached == page.end ? page.damage : nil)
        let position = folded.fault?.position ?? reached
        _ = try connection.pipeline(
            folded.calls + [
                Checkpoints.moveCall(
                    behind.name, in: tenant, to: position, version: projection.version,
                    failure: fault?.description),
                Call(.commit),
            ])
        return .moved(to: position, failure: fault?.description)
    }

    /// Writes down that the event at the checkpoint cannot be folded.
    private func stop(
        _ behind: Checkpoints.Behind, page: LogPage, fault: String, on connection: Connection
    ) throws(PostgresError) -> Outcome {
        let locked = try connection.pipeline([
            Call(.begin), Checkpoints.leaseCall(behind.name, in: behind.tenant),
        ])
        guard let lease = try Checkpoints.lease(locked[1]), lease.position == behind.position else {
            connection.rollBack()
            return .contended
        }
        let damage = LogDamage(position: lease.position, fault: fault)
        _ = try connection.pipeline([
            Checkpoints.moveCall(
                behind.name, in: behind.tenant, to: lease.position, version: lease.version,
                failure: damage.description),
            Call(.commit),
        ])
        return .moved(to: lease.position, failure: damage.description)
    }
}

extension LogPage {
    /// The events of the page from a position on, at most so many.
    func events(from position: LogPosition, limit: Int) -> ArraySlice<DisclosedEvent> {
        events.dropFirst(Int(max(0, min(position.value - from.value, Int64(events.count)))))
            .prefix(limit)
    }
}
