import Ledger
import LedgerEngine
import Postgres
import Synchronization

/// The accounts that a fold onto `account_audit` needs the states of.
struct TouchedAccounts {
    /// The accounts that already have rows, which excludes those whose first event is among the events.
    private(set) var historyState: Set<AccountID> = []
    private(set) var unlinking: Set<AccountID> = []
    /// All accounts, for a fold that begins after the first event.
    private(set) var all: Set<AccountID> = []
    /// The position of the first event.
    let first: LogPosition?

    init(_ events: ArraySlice<DisclosedEvent>) {
        first = events.first?.position
        // Most events touch one account, and most accounts already have rows.
        historyState.reserveCapacity(events.count)
        all.reserveCapacity(events.count)
        var new: Set<AccountID> = []
        for event in events {
            for reference in event.recorded.accounts {
                all.insert(reference.id)
                if reference.sequence == 0 {
                    new.insert(reference.id)
                } else if !new.contains(reference.id) {
                    historyState.insert(reference.id)
                }
            }
            if case .providerUnlinked(let fact) = event.recorded.event {
                unlinking.insert(fact.account)
            }
        }
    }
}

/// Loads the states of accounts in one table that are not cached.
struct AccountStateLoad {
    let table: ProjectionTable
    /// The index of the first result of ``calls``.
    var firstResult = 0
    private let load: AccountAuditTable.Load
    private let tenant: TenantID
    private let touched: TouchedAccounts
    private let marker: AccountStateCache.Marker?
    private let known: [AccountID: AccountAuditFold.HistoryState]

    init(
        _ table: ProjectionTable, of tenant: TenantID, touched: TouchedAccounts,
        cache: AccountStateCache
    ) {
        self.table = table
        self.tenant = tenant
        self.touched = touched
        let remembered = cache.known(touched.historyState, of: tenant, in: table)
        marker = remembered.marker
        known = remembered.historyStates
        load = AccountAuditTable(table.description).load(
            of: touched.historyState.filter { remembered.historyStates[$0] == nil },
            unlinking: touched.unlinking, in: tenant)
    }

    var calls: [Call] { load.calls }

    /// Returns the states at the checkpoint that is locked now.
    ///
    /// The cached states are valid for the checkpoint that this process wrote, and the omitted accounts for a
    /// fold of all the events; for any other checkpoint everything is loaded.
    func historyStates(
        _ results: [QueryResult], held: AccountStateCache.Marker, on connection: Connection
    ) throws(PostgresError) -> [AccountID: AccountAuditFold.HistoryState] {
        let loaded = results[firstResult..<firstResult + calls.count]
        let isWhole = touched.first == nil || touched.first == held.position
        if isWhole, known.isEmpty || marker == held {
            return try AccountAuditTable.historyStates(loaded, of: load, beside: known)
        }
        let whole = AccountAuditTable(table.description).load(
            of: touched.all, unlinking: touched.unlinking, in: tenant)
        return try AccountAuditTable.historyStates(
            try connection.pipeline(whole.calls)[...], of: whole)
    }
}

/// The checkpoints that a transaction has locked, from its begin to its commit.
final class LockedMarkers: Sendable {
    private let markers = Mutex<[ProjectionTable: AccountStateCache.Marker]>([:])

    func set(_ markers: [ProjectionTable: AccountStateCache.Marker]) {
        self.markers.withLock { $0 = markers }
    }

    func marker(of table: ProjectionTable) -> AccountStateCache.Marker? {
        markers.withLock { $0[table] }
    }
}
