import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

@Suite struct `Attacks on the log` {
    @Test func `below level 3 triggers refuse the owner's changes of rows, and nothing else`()
        async throws
    {
        try await ScratchDatabase.with(owner: .plain) { database in
            try await Self.fill(database)
            for table in LogTable.all {
                let grants = Attack.grants + Attack.grantsOfChanges
                for attack in Attack.all(on: table) + grants {
                    let sql = attack.sql(on: table)
                    let state = try await database.asOwner.refusal(
                        of: "BEGIN; \(sql); ROLLBACK")
                    let wanted = attack.owner == .triggers ? SQLState.insufficientPrivilege : nil
                    #expect(state == wanted, "\(sql)")
                }
            }
            try await Self.expectUnharmed(database)
        }
    }

    @Test func `from level 2 on the serving login can add to the log and do nothing else`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await Self.fill(database)
            let runtime = database.asRuntime
            for table in LogTable.all {
                for attack in Attack.all(on: table) {
                    let sql = attack.sql(on: table)
                    #expect(
                        try await runtime.refusal(of: sql) == .insufficientPrivilege, "\(sql)")
                }
                // Without the right, GRANT is a warning; the resulting level shows what it did.
                for attack in Attack.grants + Attack.grantsOfChanges {
                    _ = try await runtime.refusal(of: attack.sql(on: table))
                }
            }
            for sql in [
                "UPDATE disclosures SET ciphertext = ''", "DELETE FROM disclosures",
                "UPDATE account_keys SET wrapped_key = ''", "DELETE FROM account_keys",
                "CREATE TABLE mine (n int)", "CREATE VIEW mine AS SELECT 1",
                "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "SELECT 1 FROM events FOR UPDATE",
                "DO $$ BEGIN LOCK TABLE events IN EXCLUSIVE MODE; END $$",
                "DELETE FROM ledger_head", "UPDATE ledger_migrations SET version = 9",
                "CREATE ROLE mine", "CREATE SCHEMA mine", "DROP EVENT TRIGGER ledger_guard_ddl",
                "ALTER EVENT TRIGGER ledger_guard_ddl DISABLE",
                "DROP SCHEMA ledger_guard CASCADE",
                "DROP FUNCTION ledger_guard.refuse_change() CASCADE",
                "SET session_replication_role = replica", "SET allow_system_table_mods = on",
            ] {
                #expect(try await runtime.refusal(of: sql) == .insufficientPrivilege, "\(sql)")
            }
            let guards = try await runtime.guards(login: database.runtimeLogin)
            #expect(guards.level == .eventTriggers, "\(guards.sentence)")
            try await Self.expectUnharmed(database)
        }
    }

    @Test func `at level 3 the owner cannot change the log either`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            _ = try await database.asSuperuser.run(
                Migrator(ownerURL: database.superuserURL, runtimeURL: database.runtimeURL))
            try await Self.fill(database)
            let owner = database.asOwner
            for table in LogTable.all {
                let isEvidence = table.kind != .state
                let grants = Attack.grants + (isEvidence ? Attack.grantsOfChanges : [])
                for attack in Attack.all(on: table) + grants {
                    let sql = attack.sql(on: table)
                    #expect(try await owner.refusal(of: sql) == .insufficientPrivilege, "\(sql)")
                }
            }
            for sql in [
                "DROP OWNED BY \(database.ownerLogin ?? "")",
                "DROP EVENT TRIGGER ledger_guard_ddl",
                "ALTER EVENT TRIGGER ledger_guard_ddl DISABLE",
                "DROP SCHEMA ledger_guard CASCADE",
                "DROP FUNCTION ledger_guard.refuse_change() CASCADE",
                "SET session_replication_role = replica", "SET allow_system_table_mods = on",
                """
                CREATE FUNCTION public.lose() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RETURN NULL; END $$;
                CREATE TRIGGER lose BEFORE INSERT ON events EXECUTE FUNCTION lose()
                """,
            ] {
                #expect(try await owner.refusal(of: sql) == .insufficientPrivilege, "\(sql)")
            }
            let guards = try await owner.guards(login: database.runtimeLogin)
            #expect(guards.level == .eventTriggers, "\(guards.sentence)")
            try await Self.expectUnharmed(database)
        }
    }

    @Test func `from level 3 on a table of the log cannot change its owner`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            let role = "\(database.name)_thief"
            let gifts = LogTable.all.map { table in
                Attack.gift.replacing("<t>", with: table.name).replacing("<role>", with: role)
            }
            for table in LogTable.all {
                let gift = "ALTER TABLE \(table.name) OWNER TO CURRENT_USER"
                let state = try await database.asRuntime.refusal(of: gift)
                #expect(state == .insufficientPrivilege, "\(gift)")
            }
            for gift in gifts {
                let state = try await database.asOwner.refusal(of: "BEGIN; \(gift); ROLLBACK")
                #expect(state == nil, "level 2 does not keep the owner from it: \(gift)")
            }
            _ = try await database.asSuperuser.run(
                Migrator(ownerURL: database.superuserURL, runtimeURL: database.runtimeURL))
            for gift in gifts {
                for console in [database.asOwner, database.asSuperuser] {
                    #expect(
                        try await console.refusal(of: gift) == .insufficientPrivilege, "\(gift)")
                }
            }
        }
    }

    @Test func `a superuser who disables no guard cannot change the log by mistake`() async throws {
        try await ScratchDatabase.with { database in
            try await Self.fill(database)
            let superuser = database.asSuperuser
            for table in LogTable.all {
                for attack in Attack.all(on: table) {
                    let sql = attack.sql(on: table)
                    let asReplica = "SET session_replication_role = replica; \(sql)"
                    for sql in [sql, asReplica] {
                        let state = try await superuser.refusal(of: sql)
                        #expect(state == .insufficientPrivilege, "\(sql)")
                    }
                }
            }
            try await Self.expectUnharmed(database)
        }
    }

    /// Attacks of a superuser that no level prevents; each changes the log irrevocably, and only a checkpoint
    /// kept elsewhere reveals it.
    static let superuserAttacks = [
        """
        ALTER EVENT TRIGGER ledger_guard_ddl DISABLE; ALTER TABLE events DISABLE TRIGGER ALL;
        UPDATE events SET tenant_id = 'evil'; ALTER TABLE events ENABLE ALWAYS TRIGGER events_no_change;
        ALTER TABLE events ENABLE ALWAYS TRIGGER events_no_truncate;
        ALTER EVENT TRIGGER ledger_guard_ddl ENABLE ALWAYS
        """,
        """
        SET allow_system_table_mods = on;
        UPDATE pg_trigger SET tgenabled = 'D' WHERE tgname = 'events_no_change';
        SELECT pg_sleep(0); UPDATE events SET tenant_id = 'evil';
        UPDATE pg_trigger SET tgenabled = 'A' WHERE tgname = 'events_no_change'
        """,
    ]

    @Test(arguments: superuserAttacks)
    func `a determined superuser can, and restores level 3`(lifting: String) async throws {
        try await ScratchDatabase.with { database in
            try await database.asSuperuser.execute(ScratchDatabase.insertEvent(0))
            for statement in lifting.split(separator: ";") {
                // A session keeps the triggers that it has read when only the catalogue's rows change.
                try await SQLConsole(database.superuserURL).execute(
                    "SET allow_system_table_mods = on; \(statement)")
            }
            let guards = try await database.asRuntime.guards(login: database.runtimeLogin)
            #expect(guards.level == .eventTriggers, "it leaves no trace")
            let tenants = try await database.asRuntime.texts("SELECT tenant_id FROM events")
            #expect(tenants == ["evil"])
        }
    }

    @Test func `the owner may do what does not touch the log`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            _ = try await database.asSuperuser.run(
                Migrator(ownerURL: database.superuserURL, runtimeURL: database.runtimeURL))
            for statement in [
                "CREATE TABLE other (n int)", "ALTER TABLE other ALTER COLUMN n TYPE bigint",
                "GRANT UPDATE ON other TO PUBLIC", "CREATE INDEX seen ON events (recorded_at)",
                "COMMENT ON TABLE events IS 'the log'", "GRANT SELECT ON events TO PUBLIC",
                "DROP INDEX seen", "DROP TABLE other", "ANALYZE events", "REINDEX TABLE events",
                "ALTER TABLE accounts ADD COLUMN note text", "DELETE FROM account_keys",
            ] {
                #expect(try await database.asOwner.refusal(of: statement) == nil, "\(statement)")
            }
        }
    }

    private static func fill(_ database: ScratchDatabase) async throws {
        for table in LogTable.all {
            try await database.asSuperuser.execute(table.insert)
        }
    }

    /// Checks that every row of ``fill(_:)`` exists and that no other is read in its place.
    private static func expectUnharmed(_ database: ScratchDatabase) async throws {
        for table in LogTable.all where table.kind != .state {
            let rows = try await database.asSuperuser.texts(
                "SELECT tenant_id FROM public.\(table.name)")
            #expect(rows == ["default"], "\(table.name)")
        }
        let entries = try await database.asSuperuser.texts(
            "SELECT type || ' ' || encode(entry, 'escape') FROM public.events")
        #expect(entries == ["LedgerOpened {}"])
    }
}
