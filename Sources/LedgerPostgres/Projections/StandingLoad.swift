import Ledger
import Postgres
import Synchronization

/// The accounts that a fold onto `account_audit` needs the states of.
struct TouchedAccounts {
    /// The accounts that already have rows, which excludes those whose first event is among the events.
    private(set) var standing: Set<AccountID> = []
    private(set) var unlinking: Set<AccountID> = []
    /// All accounts, for a fold that begins after the first event.
    private(set) var all: Set<AccountID> = []
    /// The position of the first event.
    let first: LogPosition?

    init(_ events: ArraySlice<DisclosedEvent>) {
        first = events.first?.position
        // Most events touch one account, and most accounts already have rows.
        standing.reserveCapacity(events.count)
        all.reserveCapacity(events.count)
        var new: Set<AccountID> = []
        for event in events {
            for reference in event.recorded.accounts {
                all.insert(reference.id)
                if reference.sequence == 0 {
                    new.insert(reference.id)
                } else if !new.contains(reference.id) {
                    standing.insert(reference.id)
                }
            }
            if case .providerUnlinked(let fact) = event.recorded.event {
                unlinking.insert(fact.account)
            }
        }
    }
}

/// Loads the states of accounts in one table that are not cached.
struct StandingLoad {
    let table: ProjectionTable
    /// The index of the first result of ``calls``.
    var firstResult = 0
    private let load: AccountAuditTable.Load
    private let tenant: TenantID
    private let touched: TouchedAccounts
    private let mark: StandingCache.Mark?
    private let known: [AccountID: AccountAuditFold.Standing]

    init(
        _ table: ProjectionTable, of tenant: TenantID, touched: TouchedAccounts,
        cache: StandingCache
    ) {
        self.table = table
        self.tenant = tenant
        self.touched = touched
        let remembered = cache.known(touched.standing, of: tenant, in: table)
        mark = remembered.mark
        known = remembered.standings
        load = AccountAuditTable(table.description).load(
            of: touched.standing.filter { remembered.standings[$0] == nil },
            unlinking: touched.unlinking, in: tenant)
    }

    var calls: [Call] { load.calls }

    /// Returns the states at the checkpoint that is locked now.
    ///
    /// The cached states are valid for the checkpoint that this process wrote, and the omitted accounts for a
    /// fold of all the events; for any other checkpoint everything is loaded.
    func standings(
        _ results: [QueryResult], held: StandingCache.Mark, on connection: Connection
    ) throws(PostgresError) -> [AccountID: AccountAuditFold.Standing] {
        let loaded = results[firstResult..<firstResult + calls.count]
        let isWhole = touched.first == nil || touched.first == held.position
        if isWhole, known.isEmpty || mark == held {
            return try AccountAuditTable.standings(loaded, of: load, beside: known)
        }
        let whole = AccountAuditTable(table.description).load(
            of: touched.all, unlinking: touched.unlinking, in: tenant)
        return try AccountAuditTable.standings(try connection.pipeline(whole.calls)[...], of: whole)
    }
}

/// The checkpoints that a transaction has locked, from its begin to its commit.
final class HeldMarks: Sendable {
    private let marks = Mutex<[ProjectionTable: StandingCache.Mark]>([:])

    func set(_ marks: [ProjectionTable: StandingCache.Mark]) {
        self.marks.withLock { $0 = marks }
    }

    func mark(of table: ProjectionTable) -> StandingCache.Mark? {
        marks.withLock { $0[table] }
    }
}
