import Ledger
import Synchronization

@testable import LedgerEngine

/// The simulated read models: tables, checkpoints and their locks.
final class MemoryProjections: Sendable {
    static let idleMicroseconds: Int64 = 10_000_000

    static let tables = ProjectionName.allCases.map {
        ProjectionTable(projection: $0, generation: 1, version: $0.version)
    }

    /// One tenant's part of one table.
    struct Partition: Sendable {
        var position = LogPosition(0)
        var failure: String?
        var holder: Int?
        var userProviders: [UserProvidersFold.Key: UserProvidersFold.Row] = [:]
        var audit: [AccountID: [AuditRow]] = [:]
        /// The conflicts by the positions of their first attempts.
        var conflicts: [LogPosition: Conflict] = [:]
    }

    struct TableKey: Hashable, Sendable {
        let tenant: TenantID
        let table: ProjectionTable
    }

    private struct State {
        var partitions: [TableKey: Partition] = [:]
        /// The states before the last commits, latest last: a restart may lose the commits.
        var before: [[TableKey: Partition]] = []
        var transactionCount = 0
        /// The process of each open transaction.
        var transactions: [Int: Int] = [:]
        var isClosed = false
    }

    private let scheduler: Scheduler
    private let state: Mutex<State>

    init(tenants: [TenantID], scheduler: Scheduler) {
        self.scheduler = scheduler
        var state = State()
        for tenant in tenants {
            for table in Self.tables {
                state.partitions[TableKey(tenant: tenant, table: table)] = Partition()
            }
        }
        self.state = Mutex(state)
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

    func partition(_ tenant: TenantID, _ table: ProjectionTable) -> Partition {
        state.withLock { $0.partitions[TableKey(tenant: tenant, table: table)] } ?? Partition()
    }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    /// Begins a transaction that locks the free checkpoints.
    func hold(
        _ tables: [ProjectionTable], of tenant: TenantID, for process: Int, ignoringLocks: Bool
    ) -> (transaction: Int, held: [(table: ProjectionTable, partition: Partition)]) {
        let result = state.withLock { state in
            state.transactionCount += 1
            let id = state.transactionCount
            state.transactions[id] = process
            var held: [(table: ProjectionTable, partition: Partition)] = []
            for table in tables {
                let key = TableKey(tenant: tenant, table: table)
                guard let partition = state.partitions[key],
                    partition.holder == nil || ignoringLocks
                else { continue }
                state.partitions[key]?.holder = id
                held.append((table: table, partition: partition))
            }
            return (transaction: id, held: held)
        }
        scheduler.after(microseconds: Self.idleMicroseconds) { [self] in
            end(result.transaction)
        }
        return result
    }

    /// Ends a transaction; uncommitted changes are lost.
    func end(_ transaction: Int) {
        state.withLock { state in
            state.transactions[transaction] = nil
            for key in state.partitions.keys where state.partitions[key]?.holder == transaction {
                state.partitions[key]?.holder = nil
            }
        }
    }

    /// Loses uncommitted changes and the last commits: projectors do not wait for the disk.
    func restart(losing count: Int) {
        for id in state.withLock({ $0.transactions.keys.sorted() }) {
            end(id)
        }
        state.withLock { state in
            let lost = state.before.suffix(count)
            guard let found = lost.first else { return }
            state.before.removeLast(lost.count)
            state.partitions = found.mapValues { partition in
                var free = partition
                free.holder = nil
                return free
            }
        }
    }

    /// Ends the open transactions of a process.
    func disconnect(_ process: Int) {
        let open = state.withLock { state in
            state.transactions.filter { $0.value == process }.map(\.key)
        }
        for id in open {
            end(id)
        }
    }

    /// Writes rows or moves checkpoints or both: all or nothing.
    func write(
        _ steps: [ProjectionStep], of tenant: TenantID, in transaction: Int, rows: Bool,
        checkpoints: Bool
    ) throws {
        try state.withLock { state in
            guard state.transactions[transaction] != nil, !state.isClosed else {
                throw BatchFault.connectionLost
            }
            var partitions = state.partitions
            state.before = state.before.suffix(2) + [partitions]
            for step in steps {
                let key = TableKey(tenant: tenant, table: step.table)
                if rows, let changes = step.rows { try partitions[key]?.write(changes) }
                guard checkpoints else { continue }
                partitions[key]?.position = step.position
                partitions[key]?.failure = step.failure
            }
            state.partitions = partitions
        }
    }
}

extension MemoryProjections.Partition {
    /// Writes rows, with the constraints of the tables.
    fileprivate mutating func write(_ rows: ProjectionRows) throws(ProjectionRefusal) {
        switch rows {
        case .userProviders(let steps):
            for step in steps { try write(step) }
        case .accountAudit(let added):
            for account in added.erasedAccounts {
                audit[account] = audit[account]?.map { row in
                    var row = row
                    row.clientIP = nil
                    return row
                }
            }
            for row in added {
                guard audit[row.account, default: []].count == Int(row.sequence) else {
                    throw ProjectionRefusal(reason: "an added audit row already exists")
                }
                audit[row.account, default: []].append(row)
            }
        case .conflicts(let changes):
            for key in changes.replaced where conflicts.removeValue(forKey: key) == nil {
                throw ProjectionRefusal(reason: "a changed conflict is missing")
            }
            for row in changes.rows {
                guard conflicts.updateValue(row, forKey: row.first.position) == nil else {
                    throw ProjectionRefusal(reason: "an added conflict already exists")
                }
            }
        }
    }

    private mutating func write(_ step: UserProvidersFold.Step) throws(ProjectionRefusal) {
        switch step {
        case .changes(let net):
            userProviders = userProviders.filter { !net.erased.contains($0.key.account) }
            for (key, change) in net.changes {
                try write(change, at: key)
            }
        case .merge(let fact):
            for link in fact.dropped { _ = try take(link, of: fact.absorbed) }
            for link in fact.replaced { _ = try take(link, of: fact.survivor) }
            for link in fact.moved {
                userProviders[
                    UserProvidersFold.Key(account: fact.survivor, identity: link.identity)] =
                    try take(link, of: fact.absorbed)
            }
        case .unmerge(let fact, let given):
            for link in fact.returned {
                userProviders[
                    UserProvidersFold.Key(account: fact.survivor, identity: link.identity)] = nil
            }
            for (key, row) in given {
                guard userProviders.updateValue(row, forKey: key) == nil else {
                    throw ProjectionRefusal(reason: "an added row already exists")
                }
            }
        case .address(let fact, let email):
            for (key, row) in userProviders
            where fact.accounts.contains(key.account)
                && row.providerID == fact.address.description
            {
                userProviders[key]?.email = email
            }
        }
    }

    private mutating func take(
        _ link: Account.Link, of account: AccountID
    ) throws(ProjectionRefusal) -> UserProvidersFold.Row {
        let key = UserProvidersFold.Key(account: account, identity: link.identity)
        guard let row = userProviders.removeValue(forKey: key) else {
            throw ProjectionRefusal(reason: "a moved row is missing")
        }
        return row
    }

    private mutating func write(
        _ change: UserProvidersFold.Change, at key: UserProvidersFold.Key
    ) throws(ProjectionRefusal) {
        if change.deletes, userProviders.removeValue(forKey: key) == nil {
            throw ProjectionRefusal(reason: "a deleted row is missing")
        }
        if let row = change.insert {
            guard userProviders.updateValue(row, forKey: key) == nil else {
                throw ProjectionRefusal(reason: "an added row already exists")
            }
        }
        if let email = change.email {
            guard userProviders[key] != nil else {
                throw ProjectionRefusal(reason: "a changed row is missing")
            }
            userProviders[key]?.email = email
        }
    }
}
