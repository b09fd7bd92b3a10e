import Ledger
import LedgerEngine
import Postgres

/// Loads `user_providers` page by page: new rows at once, changes of earlier pages' rows later.
///
/// A key has one row at a time in the table: a row that is linked again waits until the former is deleted.
struct UserProvidersLoad {
    /// The number of keys with pending changes at which they are applied; with another page, at most the 98,304 that a
    /// dictionary has room for before it doubles.
    private static let pendingMax = 90_000

    /// Accounts whose rows of earlier pages are all deleted.
    private var erased: Set<AccountID> = []

    private let table: String
    private let tenant: TenantID
    /// Keys whose row in the table is deleted.
    private var deleted: Set<UserProvidersFold.Key> = []
    private var deleteCount: Int64 = 0
    /// Rows that take the place of deleted ones; few, because a row is much larger than a key.
    private var waiting: [UserProvidersFold.Key: UserProvidersFold.Row] = [:]
    /// New e-mails of rows in the table.
    private var emails: [UserProvidersFold.Key: Email] = [:]
    private let hasKey: Bool
    private var isIndexed = false

    init(_ table: String, hasKey: Bool, of tenant: TenantID) {
        self.table = table
        self.hasKey = hasKey
        self.tenant = tenant
    }

    /// Whether it is time to ``settle(on:)``.
    var isFull: Bool { deleted.count + emails.count + erased.count >= Self.pendingMax }

    /// Folds a page; ends before the event that cannot be folded and returns it.
    ///
    /// `flush` writes the rows that were added so far, which a merge has to find.
    mutating func take(
        _ page: LogPage, adding rows: inout CopyRows, on connection: Connection,
        flush: (inout CopyRows) throws(PostgresError) -> Void
    ) throws(PostgresError) -> LogDamage? {
        var fold = UserProvidersFold(from: page.from)
        var damage: LogDamage?
        for event in page.events {
            do throws(LogDamage) {
                try fold.apply(event)
            } catch {
                damage = error
                break
            }
        }
        for step in fold.steps {
            if case .changes(let net) = step {
                take(net, adding: &rows)
                continue
            }
            try flush(&rows)
            try settle(on: connection)
            try prepareForMerges(on: connection)
            try UserProvidersTable(table).write(
                [step], of: tenant, through: &rows, on: connection)
            rows.removeAll()
        }
        return damage
    }

    private mutating func take(_ net: UserProvidersFold.Net, adding rows: inout CopyRows) {
        let tenant = tenant.description
        erased.formUnion(net.erased)
        for (key, change) in net.changes {
            if change.deletes {
                // A row that waits is dropped; any other is in the table.
                if waiting.removeValue(forKey: key) == nil { deleteCount += 1 }
                deleted.insert(key)
                emails[key] = nil
            }
            if let row = change.insert {
                if deleted.contains(key), waiting[key] == nil {
                    waiting[key] = row
                } else {
                    UserProvidersTable.add(key, row, of: tenant, to: &rows)
                }
            }
            guard let email = change.email else { continue }
            if waiting[key] == nil {
                emails[key] = email
            } else {
                waiting[key]?.email = email
            }
        }
    }

    /// Creates an index for a table without a key until the load ends: a merge looks up few rows among all.
    private mutating func prepareForMerges(
        on connection: Connection
    ) throws(PostgresError) {
        guard !hasKey, !isIndexed else { return }
        isIndexed = true
        // The index goes to the schema of the table; an index name cannot be qualified.
        let unqualified = table.split(separator: ".").last ?? ""
        try connection.execute(
            "CREATE INDEX \(unqualified)_merging ON \(table) (user_id, identity_id)")
    }

    /// Drops what only the load needed.
    mutating func end(on connection: Connection) throws(PostgresError) {
        try settle(on: connection)
        guard isIndexed else { return }
        isIndexed = false
        try connection.execute("DROP INDEX \(table)_merging")
    }

    /// Applies the pending changes, once all rows are in the table.
    ///
    /// - Throws: `.server` when a row that the log unlinks or updates is missing.
    mutating func settle(on connection: Connection) throws(PostgresError) {
        guard !deleted.isEmpty || !emails.isEmpty || !erased.isEmpty else { return }
        // The keys are many: one pass over the table.
        try connection.execute(
            "SET enable_hashjoin = on; SET enable_seqscan = on; SET enable_nestloop = off")
        if !deleted.isEmpty {
            _ = try connection.query(
                delete,
                [.text(tenant.description)] + Self.keys(deleted) + [.int8(deleteCount)])
        }
        if !emails.isEmpty {
            _ = try connection.query(
                update(on: try DatabaseEngine(of: connection)),
                [.text(tenant.description)] + Self.keys(emails.keys) + [
                    .texts(emails.values.map(\.address)),
                    .optionalBools(emails.values.map(\.isVerified)),
                    .int8(Int64(emails.count)),
                ])
        }
        var rows = CopyRows()
        for (key, row) in waiting {
            UserProvidersTable.add(key, row, of: tenant.description, to: &rows)
        }
        if rows.count > 0 { try connection.copyIn(UserProvidersTable(table).copy, &rows) }
        if !erased.isEmpty {
            // After the other changes, which need these rows.
            _ = try connection.query(
                erase, [.text(tenant.description), .uuids(erased.map(\.bits))])
        }
        try connection.execute(
            "RESET enable_hashjoin; RESET enable_seqscan; RESET enable_nestloop")
        erased.removeAll(keepingCapacity: true)
        deleted.removeAll(keepingCapacity: true)
        deleteCount = 0
        waiting.removeAll(keepingCapacity: true)
        emails.removeAll(keepingCapacity: true)
    }

    private var delete: Statement {
        Statement(
            "\(table)_load_delete",
            """
            WITH written AS (
                DELETE FROM \(table) t
                USING unnest($2::uuid[], $3::uuid[]) AS k (user_id, identity_id)
                WHERE t.tenant_id = $1 AND t.user_id = k.user_id
                    AND t.identity_id = k.identity_id
                RETURNING 1)
            SELECT ledger_expect(count(*), $4::bigint, 'user_providers') FROM written
            """)
    }

    private var erase: Statement {
        Statement(
            "\(table)_load_erase",
            """
            DELETE FROM \(table) t USING unnest($2::uuid[]) AS k (user_id)
            WHERE t.tenant_id = $1 AND t.user_id = k.user_id
            """)
    }

    private func update(on engine: DatabaseEngine) -> Statement {
        Statement(
            "\(table)_load_emails",
            """
            WITH found AS MATERIALIZED (
                SELECT t.ctid AS place, k.email, k.email_verified,
                    (t.email, t.email_verified) IS DISTINCT FROM (k.email, k.email_verified)
                        AS differs
                FROM \(table) t
                JOIN unnest($2::uuid[], $3::uuid[], $4::text[], $5::boolean[])
                    AS k (user_id, identity_id, email, email_verified)
                    ON t.tenant_id = $1 AND t.user_id = k.user_id
                        AND t.identity_id = k.identity_id
            ), written AS (
                UPDATE \(table) t SET email = f.email, email_verified = f.email_verified
                FROM found f WHERE f.differs AND t.ctid = f.place\(engine.tenantOfPlaces))
            SELECT ledger_expect(count(*), $6::bigint, 'user_providers') FROM found
            """)
    }

    private static func keys(_ keys: some Collection<UserProvidersFold.Key>) -> [Parameter] {
        [.uuids(keys.map(\.account.bits)), .uuids(keys.map(\.identity.bits))]
    }
}
