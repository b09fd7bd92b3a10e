import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

@Suite struct `How append-only the log is` {
    /// The migrating login, whether another one serves, and the level that this reaches.
    static let reached: [(ScratchDatabase.Owner, Bool, AppendOnlyLevel)] = [
        (.plain, false, .triggers), (.plain, true, .separateRoles),
        (.roleCreator, false, .triggers), (.roleCreator, true, .separateRoles),
        (.superuser, false, .triggers), (.superuser, true, .eventTriggers),
    ]

    @Test(arguments: reached)
    func `the level follows from the rights of the logins`(
        owner: ScratchDatabase.Owner, isSeparate: Bool, level: AppendOnlyLevel
    ) async throws {
        try await ScratchDatabase.with(owner: owner, isMigrated: false) { database in
            let migrator = Migrator(
                ownerURL: database.ownerURL,
                runtimeURL: isSeparate ? database.runtimeURL : database.ownerURL)
            let report = try await database.asSuperuser.run(migrator)
            #expect(report.guards.level == level, "\(report.guards.sentence)")
            #expect(report.guards.sentence.hasPrefix("append-only level \(level.rawValue) of 3: "))
            let serving = isSeparate ? database.asRuntime : database.asOwner
            #expect(try await serving.execute(ScratchDatabase.insertEvent(0)) == ())
        }
    }

    /// Changes that an owner without event triggers can make, and the remaining level.
    static let drifts: [(String, AppendOnlyLevel)] = [
        ("ALTER TABLE events DISABLE TRIGGER events_no_change", .unguarded),
        ("ALTER TABLE events ENABLE TRIGGER events_no_truncate", .unguarded),
        ("DROP TRIGGER events_no_truncate ON events", .unguarded),
        ("DROP TRIGGER factors_no_truncate ON factors", .unguarded),
        (
            """
            CREATE OR REPLACE TRIGGER events_no_change BEFORE UPDATE OR DELETE ON events
                FOR EACH ROW WHEN (OLD.position < 0) EXECUTE FUNCTION ledger_refuse_change();
            ALTER TABLE events ENABLE ALWAYS TRIGGER events_no_change
            """, .unguarded
        ),
        (
            """
            CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RETURN NEW; END $$
            """, .unguarded
        ),
        (
            """
            CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
            CREATE TRIGGER lose BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION lose()
            """, .unguarded
        ),
        ("CREATE RULE lose AS ON INSERT TO events DO INSTEAD NOTHING", .unguarded),
        ("ALTER TABLE events ENABLE ROW LEVEL SECURITY", .unguarded),
        ("CREATE POLICY hide ON events USING (false)", .unguarded),
        ("CREATE TABLE more () INHERITS (events)", .unguarded),
        (
            """
            CREATE TABLE whole (LIKE events) PARTITION BY LIST (tenant_id);
            CREATE TRIGGER lose BEFORE INSERT ON whole FOR EACH ROW EXECUTE FUNCTION lose();
            ALTER TABLE whole ATTACH PARTITION events DEFAULT
            """, .unguarded
        ),
        ("ALTER TABLE merkle_nodes DISABLE TRIGGER merkle_nodes_no_change", .unguarded),
        ("DROP TRIGGER checkpoints_no_truncate ON checkpoints", .unguarded),
        ("CREATE RULE lose AS ON INSERT TO access_log DO INSTEAD NOTHING", .unguarded),
        ("ALTER TABLE checkpoint_keys ENABLE ROW LEVEL SECURITY", .unguarded),
        ("DROP TRIGGER disclosures_no_truncate ON disclosures", .unguarded),
        ("CREATE POLICY hide ON identities USING (false)", .unguarded),
        ("CREATE TABLE more_nodes () INHERITS (merkle_nodes)", .unguarded),
        ("GRANT UPDATE ON events TO PUBLIC", .triggers),
        ("GRANT DELETE ON access_log TO PUBLIC", .triggers),
        ("GRANT DELETE ON account_keys TO RUNTIME", .triggers),
        ("GRANT UPDATE (ciphertext) ON disclosures TO RUNTIME", .triggers),
        ("GRANT TRUNCATE ON identities TO RUNTIME", .triggers),
        ("GRANT UPDATE (entry) ON events TO RUNTIME", .triggers),
        ("GRANT TRUNCATE ON events TO RUNTIME", .triggers),
        ("GRANT CREATE ON SCHEMA public TO RUNTIME", .triggers),
        (
            """
            CREATE OR REPLACE FUNCTION ledger_is_held(tenant text, account uuid, place bigint)
                RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS
                $$ BEGIN RETURN false; END $$
            """, .triggers
        ),
        (
            """
            CREATE OR REPLACE FUNCTION
                ledger_destroy_disclosures(tenant text, account uuid, positions bigint[])
                RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
                SET search_path = pg_catalog, pg_temp AS
                $$ BEGIN DELETE FROM public.disclosures; RETURN 0; END $$
            """, .triggers
        ),
        ("ALTER FUNCTION ledger_erasing_entry(text, uuid, bigint) RESET search_path", .triggers),
        ("DROP FUNCTION ledger_erase_accounts(text, uuid[], bigint[])", .triggers),
    ]

    @Test func `every drift lowers the level, and migrating again repairs it`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let login = database.runtimeLogin
            for (drift, level) in Self.drifts {
                try await database.asOwner.execute(
                    drift.replacing("RUNTIME", with: database.runtimeLogin))
                let guards = try await database.asRuntime.guards(login: login)
                #expect(guards.level == level, "\(drift): \(guards.sentence)")
                let report = try await database.migrate()
                #expect(report.repaired.isEmpty == (level == .triggers), "\(drift)")
                #expect(report.guards.level == .separateRoles, "\(report.guards.sentence)")
            }
            try await database.asRuntime.execute(ScratchDatabase.insertEvent(0))
            let count = try await database.asOwner.texts("SELECT count(*)::text FROM ONLY events")
            #expect(count == ["1"])
        }
    }

    /// Ways in which the serving login could gain the right to change the log.
    static let ways = [
        "GRANT OWNER TO RUNTIME", "GRANT pg_write_all_data TO RUNTIME",
        "GRANT pg_execute_server_program TO RUNTIME", "ALTER ROLE RUNTIME CREATEROLE",
        "ALTER ROLE RUNTIME SUPERUSER",
    ]

    @Test(arguments: ways)
    func `a serving login that can assume other roles is not separate`(way: String) async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let login = database.runtimeLogin
            try await database.asSuperuser.execute(
                way.replacing("RUNTIME", with: login)
                    .replacing("OWNER", with: database.ownerLogin ?? ""))
            let guards = try await database.asRuntime.guards(login: login)
            #expect(guards.level == .triggers, "\(guards.sentence)")
        }
    }

    /// Functions with their owner's rights whose caller controls what they do.
    static let unsafeFunctions = [
        """
        CREATE FUNCTION lent() RETURNS void SECURITY DEFINER LANGUAGE sql
            AS 'DELETE FROM disclosures';
        REVOKE ALL ON FUNCTION lent() FROM PUBLIC
        """,
        """
        CREATE FUNCTION lent() RETURNS void SECURITY DEFINER LANGUAGE sql
            SET search_path = pg_temp, public AS 'DELETE FROM disclosures';
        REVOKE ALL ON FUNCTION lent() FROM PUBLIC
        """,
        """
        CREATE FUNCTION lent() RETURNS void SECURITY DEFINER LANGUAGE sql
            SET search_path = pg_catalog, public, pg_temp AS 'DELETE FROM disclosures'
        """,
    ]

    @Test(arguments: unsafeFunctions)
    func `a permissive function with its owner's rights prevents level 2`(function: String)
        async throws
    {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let before = try await database.asRuntime.guards(login: database.runtimeLogin)
            #expect(before.level == .separateRoles, "\(before.sentence)")
            try await database.asOwner.execute(function)
            let guards = try await database.asRuntime.guards(login: database.runtimeLogin)
            #expect(guards.level == .triggers, "\(guards.sentence)")
        }
    }

    @Test(arguments: ["DISABLE", "ENABLE", "ENABLE REPLICA"])
    func `an event trigger that does not always fire prevents level 3`(state: String) async throws {
        try await ScratchDatabase.with { database in
            try await database.asSuperuser.execute("ALTER EVENT TRIGGER ledger_guard_drop \(state)")
            let guards = try await database.asRuntime.guards(login: database.runtimeLogin)
            #expect(guards.level == .separateRoles)
            #expect(try await database.migrate().guards.level == .eventTriggers)
        }
    }

    @Test func `an owner can migrate again below the event triggers of a superuser`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let raising = Migrator(
                ownerURL: database.superuserURL, runtimeURL: database.runtimeURL)
            #expect(try await database.asSuperuser.run(raising).guards.level == .eventTriggers)
            let again = try await database.migrate()
            #expect(again.guards.level == .eventTriggers, "\(again.guards.sentence)")
            #expect(again.repaired == [])
        }
    }

    @Test func `only a superuser's migration alters the log at level 3, and the owner remains`()
        async throws
    {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let raising = Migrator(
                ownerURL: database.superuserURL, runtimeURL: database.runtimeURL)
            _ = try await database.asSuperuser.run(raising)
            let migrations =
                Migration.embedded + [
                    Migration(
                        version: Migration.embedded.count + 1, name: "V00X_widen.sql",
                        sql: Array("ALTER TABLE events ADD note text; CREATE TABLE x ()".utf8))
                ]
            let byOwner = Migrator(
                ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
                migrations: migrations)
            let error = await #expect(throws: PostgresError.self) {
                try await database.asSuperuser.run(byOwner)
            }
            #expect(error?.state == .insufficientPrivilege)
            let bySuperuser = Migrator(
                ownerURL: database.superuserURL, runtimeURL: database.runtimeURL,
                migrations: migrations)
            let report = try await database.asSuperuser.run(bySuperuser)
            #expect(report.guards.level == .eventTriggers, "\(report.guards.sentence)")
            let owners = try await database.asOwner.texts(
                """
                SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'public'
                """)
            #expect(owners == [database.ownerLogin])
        }
    }
}
