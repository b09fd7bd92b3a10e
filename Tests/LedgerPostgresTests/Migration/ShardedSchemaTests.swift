import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The schema on Citus, whose nodes `tools/test --citus` starts.
@Suite(.enabled(if: !TestCluster.workers.isEmpty)) struct ShardedSchemaTests {
    /// The tables of the coordinator alone.
    private static let local = """
        SELECT c.relname::text FROM pg_class c
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
            AND c.oid NOT IN (SELECT logicalrelid FROM pg_dist_partition)
        """

    @Test func `an empty database gets every table on shards, and a second run changes nothing`()
        async throws
    {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let first = try await database.migrate()
            #expect(first.repaired == [])
            #expect(first.guards.level == .separateRoles)
            #expect(first.guards.sentence.contains("not available on Citus"))
            #expect(try await database.asSuperuser.texts(Self.local) == [])
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

    @Test func `a ledger of a former schema is migrated with its rows, and goes on`() async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let known = 37
            let former = Migrator(
                ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
                migrations: Array(Migration.embedded.prefix(known)))
            try await database.asSuperuser.with { _ in try former.applySchema() }
            try await database.asSuperuser.execute(
                """
                INSERT INTO addresses (tenant_id, address_id, kind, digest, key_id, account_id, position)
                SELECT 'tenant-' || n, gen_random_uuid(), 'email', sha256(n::text::bytea), 'key',
                    gen_random_uuid(), n
                FROM generate_series(1, 20) n
                """)
            let rows = "SELECT count(*)::text || ' ' || count(DISTINCT tenant_id) FROM addresses"
            #expect(try await database.asSuperuser.texts(rows) == ["20 20"])
            let migrated = try await database.migrate()
            #expect(migrated.applied == Migration.embedded.map(\.version).filter { $0 > known })
            #expect(try await database.asSuperuser.texts(rows + " WHERE NOT claimed") == ["20 20"])
            #expect(try await database.asSuperuser.texts(Self.local) == [])
            let targets = """
                SELECT DISTINCT r.result FROM run_command_on_shards('addresses', $$
                    SELECT attstattarget FROM pg_attribute
                    WHERE attrelid = '%s'::regclass AND attname = 'digest' $$) r
                """
            #expect(try await database.asSuperuser.texts(targets) == ["0"])
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                try await database.fold()
            }
            #expect(try await database.userProviders() == ["apple|ada|-"])
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
