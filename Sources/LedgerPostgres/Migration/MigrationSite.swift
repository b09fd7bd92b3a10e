internal import Migrations
internal import Postgres

/// A database during a migration: the privileges of the migrating login, and the steps it takes.
struct MigrationSite {
    let connection: Connection
    let servingLogin: String
    let database: String
    let login: String
    let isSuperuser: Bool
    let mayCreateRoles: Bool
    /// The distribution of the tables; nil on Postgres alone.
    let shards: ShardedSchema?

    private static let roles = Statement(
        "migrate_situation",
        """
        SELECT current_database()::text AS database, r.rolname::text AS login, r.rolsuper,
            r.rolsuper OR r.rolcreaterole AS may_create_roles
        FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
        """)
    private static let ownerOfLog = Statement(
        "migrate_owner",
        """
        SELECT pg_get_userbyid(c.relowner)::text AS owner,
            pg_has_role(current_user, c.relowner, 'USAGE') AS may_act_as_owner
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'public' AND c.relname = 'events'
        """)
    private static let guardEventTriggers = Statement(
        "migrate_event_triggers",
        "SELECT evtname::text FROM pg_catalog.pg_event_trigger WHERE evtname LIKE 'ledger\\_guard\\_%'"
    )
    private static let record = Statement(
        "migrate_record",
        "INSERT INTO public.ledger_migrations (version, name, sha256) VALUES ($1, $2, $3)")

    /// Reads the roles, and refuses tables whose owner the login cannot act as.
    init(connection: Connection, servingLogin: String) throws {
        let row = try connection.query(Self.roles)
        self.connection = connection
        self.servingLogin = servingLogin
        database = try row.text(0, row.column("database"))
        login = try row.text(0, row.column("login"))
        isSuperuser = try row.bool(0, row.column("rolsuper"))
        mayCreateRoles = try row.bool(0, row.column("may_create_roles"))
        shards =
            try DatabaseEngine(of: connection) == .citus
            ? ShardedSchema(connection: connection, database: database) : nil
        _ = try ownerOfTables()
    }

    /// Returns the present or future owner of the log.
    func ownerOfTables() throws -> String {
        let row = try connection.query(Self.ownerOfLog)
        guard row.rowCount == 1 else { return login }
        let owner = try row.text(0, row.column("owner"))
        guard try row.bool(0, row.column("may_act_as_owner")) else {
            throw MigrationError.notTheOwner(login: login, owner: owner)
        }
        return owner
    }

    /// Applies one migration as the owner of the tables, so that all have the same owner.
    ///
    /// A superuser disables the event triggers inside the transaction: other sessions never see
    /// them missing. The last migration is followed by the functions, which so never lag behind the
    /// tables that they empty.
    func apply(_ migration: Migration, isLast: Bool) throws {
        let owner = try ownerOfTables()
        let lifted = isSuperuser ? try eventTriggers() : []
        try connection.transaction {
            for name in lifted {
                try connection.execute("ALTER EVENT TRIGGER \(quoteIdentifier(name)) DISABLE")
            }
            if isSuperuser, owner != login {
                try connection.execute("SET LOCAL ROLE \(quoteIdentifier(owner))")
            }
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS public.ledger_migrations (
                    version integer NOT NULL PRIMARY KEY,
                    name text NOT NULL,
                    sha256 bytea NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
                )
                """)
            try lockHeads()
            try execute(migration.sql)
            if isLast { try execute(MigrationScripts.functions) }
            _ = try connection.query(
                Self.record,
                [
                    .int4(Int32(migration.version)), .text(migration.name),
                    .bytes(migration.digest),
                ])
            if isSuperuser, owner != login {
                try connection.execute("SET LOCAL ROLE \(quoteIdentifier(login))")
            }
            for name in lifted {
                try connection.execute("ALTER EVENT TRIGGER \(quoteIdentifier(name)) ENABLE ALWAYS")
            }
        }
    }

    /// Executes the statements of a script; on Citus one by one.
    private func execute(_ script: String) throws {
        guard let shards else { return try connection.execute(script) }
        for statement in SQLScript(script).statements { try shards.execute(statement) }
    }

    /// Waits for appends in progress and blocks new ones until the migration is committed.
    ///
    /// They then find its version (``SchemaFence``).
    private func lockHeads() throws {
        do {
            try connection.execute(
                """
                DO $$ BEGIN IF to_regclass('public.ledger_head') IS NOT NULL THEN
                    LOCK TABLE public.ledger_head IN EXCLUSIVE MODE;
                END IF; END $$
                """)
        } catch {
            guard error.state == .lockNotAvailable else { throw error }
            throw MigrationError.headsStayLocked
        }
    }

    /// Repairs triggers, roles, grants and event triggers in one transaction.
    ///
    /// Triggers are only touched if they have drifted, because that blocks appends.
    ///
    /// - Returns: The deviations from level 1 that were found, and the guards as they are now.
    func assertGuards() throws -> (repaired: [String], guards: AppendOnlyGuards) {
        let drift = try inspect().deviations
        let (group, inspected): (String?, AppendOnlyGuards?) = try connection.transaction {
            if isSuperuser {
                for name in try eventTriggers() {
                    try connection.execute("DROP EVENT TRIGGER \(quoteIdentifier(name))")
                }
            }
            if !drift.isEmpty { try connection.execute(MigrationScripts.guardTriggers) }
            try assertFunctions()
            try connection.execute(RoleGrants.publicScript)
            let group = try assertRoles()
            // Shards are inspected over other connections, which see what is committed. Event triggers see no
            // shard, so they would promise more than they do.
            guard shards == nil else { return (group, nil) }
            if isSuperuser { try connection.execute(MigrationScripts.guardEventTriggers) }
            return (group, try guarded())
        }
        if let group, mayCreateRoles { try shards?.grant(group, to: servingLogin) }
        let guards = try inspected ?? guarded()
        return (drift, guards)
    }

    /// Repairs the functions that destroy data as the owner of the tables, whose privileges they
    /// have.
    private func assertFunctions() throws {
        let owner = try ownerOfTables()
        let isAnother = isSuperuser && owner != login
        if isAnother { try connection.execute("SET LOCAL ROLE \(quoteIdentifier(owner))") }
        try connection.execute(MigrationScripts.functions)
        if isAnother { try connection.execute("SET LOCAL ROLE \(quoteIdentifier(login))") }
    }

    /// Inspects the guards, and refuses a deviation from level 1.
    private func guarded() throws -> AppendOnlyGuards {
        let guards = try inspect()
        guard guards.deviations.isEmpty else {
            throw MigrationError.unguarded(guards.deviations)
        }
        return guards
    }

    private func inspect() throws -> AppendOnlyGuards {
        try AppendOnlyGuards.inspect(connection, logins: [servingLogin])
    }

    private func eventTriggers() throws -> [String] {
        let rows = try connection.query(Self.guardEventTriggers)
        return try (0..<rows.rowCount).map { try rows.text($0, 0) }
    }
}

extension AppendOnlyGuards {
    /// The deviations from level 1.
    fileprivate var deviations: [String] {
        findings.filter { $0.level == .triggers }.map(\.text)
    }
}
