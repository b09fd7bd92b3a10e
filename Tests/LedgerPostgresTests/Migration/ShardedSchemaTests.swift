import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The schema on Citus, whose nodes `tools/test --citus` starts.
@Suite(.enabled(if: !TestCluster.workers.isEmpty)) struct ShardedSchemaTests {
    @Test func `an empty database gets every table on shards, and a second run changes nothing`()
        async throws
    {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let first = try await database.migrate()
            #expect(first.repaired == [])
            #expect(first.guards.level == .separateRoles)
            #expect(first.guards.sentence.contains("not available on Citus"))
            let local = """
                SELECT c.relname::text FROM pg_class c
                WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
                    AND c.oid NOT IN (SELECT logicalrelid FROM pg_dist_partition)
                """
            #expect(try await database.asSuperuser.texts(local) == [])
            let apart = """
                SELECT p.logicalrelid::text FROM pg_dist_partition p
                WHERE p.partmethod = 'h' AND p.colocationid <> (
                    SELECT h.colocationid FROM pg_dist_partition h
                    WHERE h.logicalrelid = 'ledger_head'::regclass)
                """
            #expect(try await database.asSuperuser.texts(apart) == ["console_sessions"])
            let second = try await database.migrate()
            #expect(second.applied == [])
            #expect(second.repaired == [])
            #expect(second.guards == first.guards)
        }
    }

    @Test func `a trigger that is missing on one shard is found, and repaired`() async throws {
        try await ScratchDatabase.with { database in
            try await database.asSuperuser.execute(
                """
                SELECT run_command_on_placements('events', format(
                    'DROP TRIGGER IF EXISTS events_no_change_%s ON %%s', min(shardid)))
                FROM pg_dist_shard WHERE logicalrelid = 'events'::regclass
                """)
            let found = try await database.migrate()
            #expect(found.repaired.count == 1)
            #expect(found.repaired.first?.hasPrefix("the shard events_") == true)
            #expect(try await database.migrate().repaired == [])
        }
    }

    @Test func `a database with rows is refused before anything is distributed`() async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            try await database.asSuperuser.execute(
                """
                CREATE TABLE projection_tables (
                    name text, generation int, version int, state text, made_at timestamptz);
                CREATE TABLE events (tenant_id text NOT NULL, position bigint NOT NULL);
                INSERT INTO events VALUES ('default', 0)
                """)
            await #expect(throws: MigrationError.tablesHaveRows("events")) {
                try await database.migrate()
            }
        }
    }
}
