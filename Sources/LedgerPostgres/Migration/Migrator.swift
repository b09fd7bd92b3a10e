package import Postgres

/// Migrates a database to this binary's schema, and sets up its guards and roles.
///
/// Forward only; each migration is a transaction. Another run changes only what has drifted.
/// Concurrent runs execute one after another. Requires a direct connection to the server: a pooler
/// in transaction mode would lose the lock that orders them.
package struct Migrator: Sendable {
    /// The key of the `pg_advisory_lock` of migrators: "ledger" and a number, in ASCII.
    static let lockKey: Int64 = 0x6C65_6467_6572_0001
    private static let migratorWaitMax = Duration.seconds(120)
    /// The maximum wait of a migration for a table; sessions queued behind it wait as long.
    package static let tableWaitMax = Duration.seconds(10)
    private static let statementMax = Duration.seconds(3_600)
    private static let applicationName = "account-ledger migrate"

    private let ownerURL: String
    private let runtimeURL: String
    private let migrations: [Migration]
    private let tableWaitMax: Duration

    /// Configures the schema's owner and the runtime login, which may be the same.
    package init(
        ownerURL: String, runtimeURL: String, migrations: [Migration] = Migration.embedded,
        tableWaitMax: Duration = tableWaitMax
    ) {
        self.ownerURL = ownerURL
        self.runtimeURL = runtimeURL
        self.migrations = migrations
        self.tableWaitMax = tableWaitMax
    }

    /// Compares a database's schema with this binary's; any login of the ledger may call it.
    package static func status(
        of connection: Connection, migrations: [Migration] = Migration.embedded
    ) throws(PostgresError) -> SchemaStatus {
        SchemaStatus(applied: try AppliedMigration.load(connection), known: migrations)
    }

    /// Migrates, and sets up roles, grants and guards; blocks until it is done.
    ///
    /// - Throws: `MigrationError`, or `PostgresError` with the refusal of a statement. Committed
    ///   migrations remain.
    package func migrate() throws -> MigrationReport {
        try withSite { site, pending in
            try apply(pending, to: site)
            let (repaired, guards) = try site.assertGuards()
            return MigrationReport(
                applied: pending.map(\.version), version: migrations.count, repaired: repaired,
                dropped: try site.dropUnfinishedTables(), guards: guards)
        }
    }

    /// Applies the pending migrations only, and leaves roles, grants and guards to ``migrate()``.
    ///
    /// - Throws: As ``migrate()``.
    package func applySchema() throws {
        try withSite { site, pending in
            try apply(pending, to: site)
        }
    }

    private func apply(_ pending: [Migration], to site: MigrationSite) throws {
        try site.shards?.prepare()
        for migration in pending {
            try site.apply(migration, isLast: migration.version == pending.last?.version)
        }
        try site.shards?.distribute()
        try site.shards?.followStatistics()
    }

    /// Connects as the owner, waits for other migrators, and passes the pending migrations to the body.
    private func withSite<Value>(
        _ body: (MigrationSite, _ pending: [Migration]) throws -> Value
    ) throws -> Value {
        let owner = try Connection(
            url: ownerURL, applicationName: Self.applicationName,
            statementDeadline: Self.statementMax)
        defer { owner.close() }
        try owner.refuseTransactionPooling(url: ownerURL)
        try lock(owner)
        let login = try servingLogin(beside: owner)
        let pending = try pendingMigrations(in: owner)
        return try body(MigrationSite(connection: owner, servingLogin: login), pending)
    }

    private func pendingMigrations(in connection: Connection) throws -> [Migration] {
        switch try Self.status(of: connection, migrations: migrations) {
        case .current: []
        case .missing: migrations
        case .behind(let from, _): Array(migrations.dropFirst(from))
        case .newer(let version):
            throw MigrationError.databaseIsNewer(database: version, binary: migrations.count)
        case .differs(let version): throw MigrationError.migrationDiffers(version: version)
        }
    }

    private func lock(_ connection: Connection) throws {
        do {
            try connection.execute(
                """
                SET statement_timeout = 0;
                SET idle_in_transaction_session_timeout = 0;
                SET lock_timeout = '\(Self.migratorWaitMax.components.seconds)s';
                SELECT pg_advisory_lock(\(Self.lockKey));
                SET lock_timeout = '\(Int(tableWaitMax / .milliseconds(1)))ms'
                """)
        } catch {
            guard error.state == .lockNotAvailable else { throw error }
            throw MigrationError.alreadyRunning
        }
    }

    /// Returns the login of the runtime URL after checking that it connects to the same database.
    private func servingLogin(beside owner: Connection) throws -> String {
        guard runtimeURL != ownerURL else {
            return try owner.query(Self.currentLogin, [.int8(Self.lockKey)]).text(0, 0)
        }
        let runtime = try connectAsRuntime()
        defer { runtime.close() }
        let answer = try runtime.query(Self.currentLogin, [.int8(Self.lockKey)])
        guard try answer.bool(0, answer.column("is_same_database")) else {
            throw MigrationError.differentDatabases
        }
        return try answer.text(0, 0)
    }

    private func connectAsRuntime() throws(MigrationError) -> Connection {
        do {
            return try Connection(url: runtimeURL, applicationName: Self.applicationName)
        } catch {
            throw .runtimeLoginUnusable(error.description)
        }
    }

    /// The current login, and whether a migrator's lock is held in this database.
    private static let currentLogin = Statement(
        "migrate_who_serves",
        """
        SELECT session_user::text AS login, EXISTS (
            SELECT FROM pg_catalog.pg_locks l
            JOIN pg_catalog.pg_database d ON d.oid = l.database AND d.datname = current_database()
            WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
                AND l.classid::bigint << 32 | l.objid::bigint = $1) AS is_same_database
        """)
}
