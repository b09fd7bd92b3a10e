import Ledger
import LedgerEngine
import Postgres

/// Folds a tenant's log from position 0 into a table that holds none of its rows yet.
///
/// The fold happens in memory and the rows are written by COPY, so the table needs no index beside its primary
/// key. Changes to rows that were written earlier are collected and applied in one join. Memory is bounded by
/// pages and, for `account_audit`, by the number of accounts; all conflicts of a tenant are kept in memory
/// until its log has been folded.
struct BulkLoad {
    /// The number of bytes at which rows are sent; with another page, less than what ``CopyRows`` keeps when it is emptied.
    private static let flushBytes = 2 * 1024 * 1024

    /// The number of threads that decode a page: only the operator waits for a rebuild.
    private static let pageThreads = 4

    private let tenant: TenantID
    private let disclosures: DisclosureReader
    private let copy: String
    /// The lease that every write has to hold; nil for a table that no other connection sees.
    private let lease: RebuildLease?
    private let table: String
    /// Accounts whose addresses are to be cleared in the rows of earlier pages.
    private var erased: Set<AccountID> = []
    // Exactly one of these is set; each is changed in place.
    private var providers: UserProvidersLoad?
    private var audit: AccountAuditFold?
    private var conflicts: ConflictFold?
    /// Whether the table already has conflicts of the tenant.
    private var hasConflicts = false
    /// The next position to fold.
    private(set) var position = LogPosition(0)

    /// Loads into a table of the shape of a projection's, with or without its primary key.
    init(
        _ projection: ProjectionName, into table: String, hasKey: Bool,
        under lease: RebuildLease? = nil, of tenant: TenantID, with disclosures: DisclosureReader
    ) {
        self.lease = lease
        self.tenant = tenant
        self.disclosures = disclosures
        self.table = table
        switch projection {
        case .userProviders:
            copy = UserProvidersTable(table).copy
            providers = UserProvidersLoad(table, hasKey: hasKey, of: tenant)
        case .accountAudit:
            copy = AccountAuditTable(table).copy
            audit = AccountAuditFold()
        case .conflicts:
            copy = ConflictsTable(table).copy
            conflicts = ConflictFold()
        }
    }

    /// Folds up to a position; the table is complete when this returns.
    ///
    /// Without a lease it works inside or outside a transaction; with one, each page is a transaction.
    /// - Returns: the event that cannot be folded; the events before it are in the table.
    mutating func advance(
        to target: LogPosition, pageMax: Int = LogPage.eventsMax, on connection: Connection
    ) throws(PostgresError) -> LogDamage? {
        var rows = CopyRows()
        var damage: LogDamage?
        while position < target, damage == nil {
            let limit = Int(min(Int64(pageMax), target.value - position.value))
            let page = try LogPage.read(
                from: position, in: tenant, limit: limit, disclosures: disclosures,
                threads: Self.pageThreads, on: connection)
            damage = try writing(on: connection) {
                (load: inout BulkLoad) throws(PostgresError) -> LogDamage? in
                let damage = try load.take(page, adding: &rows, on: connection) ?? page.damage
                let isFull = load.providers?.isFull == true
                if rows.byteCount >= Self.flushBytes || isFull {
                    try load.flush(&rows, on: connection)
                }
                if isFull { try load.providers?.settle(on: connection) }
                return damage
            }
            position = damage?.position ?? page.end
        }
        try writing(on: connection) { (load: inout BulkLoad) throws(PostgresError) in
            try load.end(&rows, on: connection)
        }
        return damage
    }

    /// Runs a body that writes in a transaction that holds the lease, if there is one.
    private mutating func writing<Value>(
        on connection: Connection, _ body: (inout BulkLoad) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        guard let lease else { return try body(&self) }
        return try lease.write(on: connection) { () throws(PostgresError) in try body(&self) }
    }

    /// Writes what is left, so that the table is complete up to the position.
    private mutating func end(
        _ rows: inout CopyRows, on connection: Connection
    ) throws(PostgresError) {
        try flush(&rows, on: connection)
        try providers?.end(on: connection)
        if let conflicts {
            try ConflictsTable(table).write(
                conflicts, insteadOfOthers: hasConflicts, of: tenant, through: &rows,
                on: connection)
            hasConflicts = true
            return
        }
        // A page read before an erasure may still contain disclosures that the erasure destroyed.
        try AccountAuditTable(table).clearAddresses(of: erased, in: tenant, on: connection)
        erased.removeAll()
    }

    private func flush(
        _ rows: inout CopyRows, on connection: Connection
    ) throws(PostgresError) {
        try Self.flush(&rows, by: copy, on: connection)
    }

    private static func flush(
        _ rows: inout CopyRows, by copy: String, on connection: Connection
    ) throws(PostgresError) {
        guard rows.count > 0 else { return }
        try connection.copyIn(copy, &rows)
        rows.removeAll()
    }

    /// Folds a page; ends before the event that cannot be folded and returns it.
    private mutating func take(
        _ page: LogPage, adding rows: inout CopyRows, on connection: Connection
    ) throws(PostgresError) -> LogDamage? {
        if providers != nil {
            let copy = copy
            return try providers?.take(page, adding: &rows, on: connection) {
                rows throws(PostgresError) in
                try Self.flush(&rows, by: copy, on: connection)
            }
        }
        var damage: LogDamage?
        for event in page.events {
            do throws(LogDamage) {
                try audit?.apply(event)
                try conflicts?.take(event)
            } catch {
                damage = error
                break
            }
        }
        let tenant = tenant.description
        let added = audit?.removeRows() ?? []
        erased.formUnion(added.erasedAccounts)
        for row in added {
            AccountAuditTable.add(row, of: tenant, to: &rows)
        }
        return damage
    }
}
