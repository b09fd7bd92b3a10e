import Ledger
import LedgerTestSupport
import Synchronization

@testable import LedgerEngine

/// One projector's connection to the simulated read models.
final class MemoryProjectionStore: ProjectionStore {
    private let process: SimulatedProcess
    private let world: World
    private let transaction = Mutex<Int?>(nil)

    init(process: SimulatedProcess, world: World) {
        self.process = process
        self.world = world
    }

    private var tables: MemoryProjections { world.projections }

    var taskExecutor: (any TaskExecutor)? { nil }

    func backlogs(of projections: Set<ProjectionName>) async throws -> [ProjectionBacklog] {
        try await travel("looks for events to fold")
        return world.tenants.compactMap { tenant in
            let head = LogPosition(Int64(world.database.logCount(of: tenant)))
            let wanted = MemoryProjections.tables.filter { projections.contains($0.projection) }
            let behind = wanted.compactMap { table in
                let partition = tables.partition(tenant, table)
                return partition.position < head && partition.failure == nil
                    ? ProjectionBacklog.Behind(table: table, position: partition.position) : nil
            }
            .sorted { $0.position < $1.position }
            return behind.isEmpty ? nil : ProjectionBacklog(tenant: tenant, tables: behind)
        }
    }

    func backlogs(
        of projections: Set<ProjectionName>, from named: [NewEvents]
    ) async throws -> [ProjectionBacklog] {
        try await travel("lists its tables")
        let wanted = MemoryProjections.tables.filter { projections.contains($0.projection) }
        return named.map { events in
            ProjectionBacklog(
                tenant: events.tenant,
                tables: wanted.map {
                    ProjectionBacklog.Behind(table: $0, position: events.from)
                })
        }
    }

    func page(of tenant: TenantID, from: LogPosition, limit: Int) async throws -> LogPage {
        if let page = process.recent.page(of: tenant, from: from, limit: limit) { return page }
        try await travel("reads a page")
        let whole = world.database.log(of: tenant)
        return LogPage(
            from: from,
            events: whole.dropFirst(Int(from.value)).prefix(limit).map { recording in
                let positions = recording.recorded.linkPositions
                return DisclosedEvent(
                    recorded: recording.recorded,
                    disclosed: DisclosedValues(recording.disclosures),
                    linked: Dictionary(
                        uniqueKeysWithValues: positions.map { position in
                            let pair = whole.dropFirst(Int(position.value)).prefix(2).map {
                                DisclosedEvent(
                                    recorded: $0.recorded,
                                    disclosed: DisclosedValues($0.disclosures))
                            }
                            return (
                                position,
                                pair[0].linkDisclosures(before: pair.dropFirst().first)
                            )
                        }))
            },
            damage: nil)
    }

    func open(
        _ wanted: [ProjectionTable], of tenant: TenantID, for events: ArraySlice<DisclosedEvent>
    ) async throws -> [HeldCheckpoint] {
        try await travel("locks checkpoints")
        let (id, held) = tables.hold(
            wanted, of: tenant, for: process.number,
            ignoringLocks: world.bug == .checkpointNotLocked)
        transaction.withLock { $0 = id }
        if held.isEmpty { await abandon() }
        await world.faultPoint("projector: holds checkpoints", in: process)
        let log = world.database.log(of: tenant)
        let keys = ConflictFold.Keys(events.lazy.map(\.recorded.event))
        return held.map { table, partition in
            HeldCheckpoint(
                table: table, position: partition.position, version: table.version,
                failure: partition.failure, historyStates: partition.historyStates(in: log),
                conflicts: partition.conflicts.values.filter { keys.name($0) })
        }
    }

    func commit(_ steps: [ProjectionStep], of tenant: TenantID) async throws {
        let id = transaction.withLock(\.self) ?? 0
        defer { tables.end(id) }
        try await travel("writes rows")
        if world.bug == .checkpointOutsideTransaction {
            try tables.write(steps, of: tenant, in: id, rows: true, checkpoints: false)
            try await travel("moves checkpoints")
            try tables.write(steps, of: tenant, in: id, rows: false, checkpoints: true)
        } else {
            try tables.write(steps, of: tenant, in: id, rows: true, checkpoints: true)
        }
        world.trace(
            "projector: folded \(tenant) to \(steps.map { "\($0.table)@\($0.position)" })",
            in: process)
        try await travel("has folded")
    }

    func abandon() async {
        let id = transaction.withLock(\.self) ?? 0
        tables.end(id)
    }

    func close() async {}

    private func travel(_ name: String) async throws {
        await world.faultPoint("projector: \(name)", in: process)
        guard !world.strikes(.projectionFails), !tables.isClosed else {
            await abandon()
            throw BatchFault.connectionLost
        }
    }
}

extension MemoryProjections.Partition {
    /// Returns the states of the accounts of `account_audit`.
    fileprivate func historyStates(
        in log: [Recording]
    ) -> [AccountID: AccountAuditFold.HistoryState] {
        audit.mapValues { rows in
            var links: [AccountAuditFold.Link] = []
            for row in rows {
                if let others = Self.links(log[Int(row.position.value)], of: row.account) {
                    links = others.map {
                        AccountAuditFold.Link(
                            identity: $0.identity, provider: $0.provider.description)
                    }
                } else if row.type == Event.Name.providerLinked.rawValue {
                    links.append(
                        AccountAuditFold.Link(
                            identity: row.identity, provider: row.provider ?? ""))
                } else if row.type == Event.Name.providerUnlinked.rawValue {
                    links.removeAll { $0.identity == row.identity }
                } else if row.type == Event.Name.accountErased.rawValue {
                    links = []
                }
            }
            return AccountAuditFold.HistoryState(nextSequence: Int64(rows.count), links: links)
        }
    }
}

extension MemoryProjections.Partition {
    /// Returns the links that a merge or its reversal leaves an account; nil for any other event.
    private static func links(_ recording: Recording, of account: AccountID) -> [Account.Link]? {
        switch recording.recorded.event {
        case .accountsMerged(let fact): account == fact.survivor ? fact.links : []
        case .accountsUnmerged(let fact): account == fact.survivor ? fact.links : fact.returned
        default: nil
        }
    }
}

extension DisclosedValues {
    /// Decodes disclosures.
    init(_ encoded: [[UInt8]]) {
        self.init()
        for bytes in encoded {
            guard let disclosure = Disclosure(encoded: String(decoding: bytes, as: UTF8.self))
            else { continue }
            _ = add(disclosure)
        }
    }
}
