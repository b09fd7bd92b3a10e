import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

@Suite struct `Attacks on the log` {
    /// What changes rows without changing the table.
    static let changes = [
        "UPDATE events SET type = 'evil'",
        "DELETE FROM events",
        "TRUNCATE events",
        "TRUNCATE events CASCADE",
        ScratchDatabase.insertEvent(0)
            + " ON CONFLICT (tenant_id, position) DO UPDATE SET type = 'evil'",
        """
        MERGE INTO events e USING (SELECT 0 AS position) n ON e.position = n.position
            WHEN MATCHED THEN DELETE
        """,
    ]

    /// What takes away the guards, rewrites the log or hides it.
    static let definitions = [
        "ALTER TABLE events DISABLE TRIGGER events_no_change",
        "ALTER TABLE events DISABLE TRIGGER ALL",
        "ALTER TABLE events ENABLE REPLICA TRIGGER events_no_change",
        "ALTER TRIGGER events_no_change ON events RENAME TO other",
        "DROP TRIGGER events_no_change ON events",
        "DROP TABLE events",
        "DROP SCHEMA public CASCADE",
        "DROP FUNCTION ledger_refuse_change() CASCADE",
        "ALTER FUNCTION ledger_refuse_change() RENAME TO other",
        """
        CREATE OR REPLACE FUNCTION ledger_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RETURN NEW; END $$
        """,
        "CREATE RULE lose AS ON INSERT TO events DO INSTEAD NOTHING",
        "CREATE TRIGGER also AFTER INSERT ON events EXECUTE FUNCTION ledger_refuse_change()",
        "ALTER TABLE events ALTER COLUMN type TYPE text USING 'evil'",
        "ALTER TABLE events ALTER COLUMN actor SET DEFAULT 'evil'",
        "ALTER TABLE events DROP COLUMN entry",
        "ALTER TABLE events RENAME TO other",
        "ALTER TABLE events SET SCHEMA information_schema",
        "ALTER TABLE events SET UNLOGGED",
        "ALTER TABLE events ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY hide ON events USING (false)",
        "ALTER SCHEMA public RENAME TO other",
        "DROP EVENT TRIGGER ledger_guard_ddl",
        "ALTER EVENT TRIGGER ledger_guard_ddl DISABLE",
        "DROP SCHEMA ledger_guard CASCADE",
        "DROP FUNCTION ledger_guard.refuse_change() CASCADE",
        "SET session_replication_role = replica",
        "CREATE TABLE more () INHERITS (events)",
        """
        CREATE TABLE whole (LIKE events) PARTITION BY LIST (tenant_id);
        ALTER TABLE whole ATTACH PARTITION events DEFAULT
        """,
    ]

    @Test func `the serving login can add events and do nothing else to the log`() async throws {
        try await ScratchDatabase.with { database in
            let runtime = database.asRuntime
            try await runtime.execute(ScratchDatabase.insertEvent(0))
            let own = [
                "CREATE TABLE mine (n int)", "CREATE VIEW mine AS SELECT 1",
                "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                "SELECT 1 FROM events FOR UPDATE",
                "DO $$ BEGIN LOCK TABLE events IN EXCLUSIVE MODE; END $$",
                "DELETE FROM ledger_head", "TRUNCATE ledger_head",
                "UPDATE ledger_migrations SET version = 9", "CREATE ROLE mine",
                "CREATE SCHEMA mine",
            ]
            for attack in Self.changes + Self.definitions + own {
                let state = try await runtime.refusal(of: attack)
                #expect(state == .insufficientPrivilege, "\(attack)")
            }
            // Without a right to give, GRANT is a warning; so look at what it did.
            _ = try await runtime.refusal(of: "GRANT UPDATE ON events TO PUBLIC")
            let guards = try await runtime.guards(login: database.runtimeLogin)
            #expect(guards.level == .eventTriggers, "\(guards.sentence)")
            try await Self.expectUnharmed(database)
        }
    }

    @Test func `at level 3 the owner cannot change the log either`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            _ = try await database.asSuperuser.run(
                Migrator(ownerURL: database.superuserURL, runtimeURL: database.runtimeURL))
            let owner = database.asOwner
            try await owner.execute(ScratchDatabase.insertEvent(0))
            let own = [
                "GRANT UPDATE ON events TO PUBLIC",
                "GRANT UPDATE (entry) ON events TO PUBLIC",
                "GRANT TRUNCATE ON events TO \(database.runtimeLogin)",
                "DROP OWNED BY \(database.ownerLogin ?? "")",
                """
                CREATE FUNCTION public.lose() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RETURN NULL; END $$;
                CREATE TRIGGER lose BEFORE INSERT ON events EXECUTE FUNCTION lose()
                """,
            ]
            for attack in Self.changes + Self.definitions + own {
                let state = try await owner.refusal(of: attack)
                #expect(state == .insufficientPrivilege, "\(attack)")
            }
            let guards = try await owner.guards(login: database.runtimeLogin)
            #expect(guards.level == .eventTriggers, "\(guards.sentence)")
            try await Self.expectUnharmed(database)
        }
    }

    @Test func `a superuser who lifts nothing cannot change the log by mistake`() async throws {
        try await ScratchDatabase.with { database in
            let superuser = database.asSuperuser
            try await superuser.execute(ScratchDatabase.insertEvent(0))
            let lifting = [
                "DROP EVENT TRIGGER", "ALTER EVENT TRIGGER", "SET session_", "ledger_guard",
            ]
            let mistakes = (Self.changes + Self.definitions).filter { attack in
                !lifting.contains { attack.contains($0) }
            }
            for attack in mistakes {
                let state = try await superuser.refusal(of: attack)
                #expect(state == .insufficientPrivilege, "\(attack)")
                let asReplica = try await superuser.refusal(
                    of: "SET session_replication_role = replica; \(attack)")
                #expect(asReplica == .insufficientPrivilege, "as a replica: \(attack)")
            }
            try await Self.expectUnharmed(database)
        }
    }

    @Test func `what does not touch the log is allowed to its owner`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            _ = try await database.asSuperuser.run(
                Migrator(ownerURL: database.superuserURL, runtimeURL: database.runtimeURL))
            for statement in [
                "CREATE TABLE other (n int)", "ALTER TABLE other ALTER COLUMN n TYPE bigint",
                "GRANT UPDATE ON other TO PUBLIC", "CREATE INDEX seen ON events (recorded_at)",
                "COMMENT ON TABLE events IS 'the log'", "GRANT SELECT ON events TO PUBLIC",
                "DROP INDEX seen", "DROP TABLE other", "ANALYZE events", "REINDEX TABLE events",
            ] {
                #expect(try await database.asOwner.refusal(of: statement) == nil, "\(statement)")
            }
        }
    }

    private static func expectUnharmed(_ database: ScratchDatabase) async throws {
        let rows = try await database.asSuperuser.texts(
            "SELECT type || ' ' || encode(entry, 'escape') FROM public.events")
        #expect(rows == ["LedgerOpened {}"])
    }
}
