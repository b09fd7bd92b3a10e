import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The exchange of tables of which one has stopped: the incoming table is at least as far and as complete.
@Suite struct StoppedTableTests {
    /// Serves a table of generation 2, with one generation stopped before the last link.
    private static func withStoppedTable(
        generation: Int32, _ body: (ScratchDatabase, Guest) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                try await database.fold()
                _ = try await database.rebuildOnline(.userProviders)
                try await database.stop(.userProviders, generation: generation, of: .default)
                try await story.link(ada, "google", "ada")
                try await body(database, ada)
            }
        }
    }

    @Test func `a table that stopped after its exchange can be rolled back, and reads are served`()
        async throws
    {
        try await Self.withStoppedTable(generation: 2) { database, ada in
            let rebuild = database.onlineRebuild()
            #expect(try await rebuild.rollBack(.userProviders).generation == 1)
            await rebuild.close()
            #expect(try await database.shown(.userProviders) == "user_providers_1")
            let identities = try await `Account reads`.read(database) { reads in
                try await reads.identities(of: ada.caller, in: .default).get()
            }
            #expect(identities.map(\.provider.description) == ["apple", "google"])
        }
    }

    @Test func `a table that stopped where the served one continued is not rolled back to`()
        async throws
    {
        try await Self.withStoppedTable(generation: 1) { database, _ in
            let rebuild = database.onlineRebuild()
            let error = await #expect(throws: OnlineRebuildFault.self) {
                try await rebuild.rollBack(.userProviders)
            }
            await rebuild.close()
            guard case .remainsBehind(let table, let tenant, _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(table.generation == 1 && tenant == .default)
            let shown = try await database.shown(.userProviders)
            #expect(shown == "user_providers_2")
        }
    }

    @Test(arguments: ProjectionName.allCases)
    func `an unfoldable event of one tenant does not prevent an exchange`(
        projection: ProjectionName
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let other = try #require(TenantID("other"))
                try await fixture.open(other)
                var here = Story(fixture.sequencer)
                var there = Story(fixture.sequencer, tenant: other, seed: 2)
                let ada = try await here.signIn("apple", "ada")
                _ = try await there.signIn("apple", "bob")
                try await database.damageLast(of: other)
                try await database.fold()
                let report = try await database.rebuildOnline(projection)
                #expect(report.served.generation == 2 && report.uncompared == [])
                try await here.link(ada, "google", "ada")
                let rebuild = database.onlineRebuild()
                #expect(try await rebuild.rollBack(projection).generation == 1)
                await rebuild.close()
                // Both tables have stopped there, and no other table has.
                #expect(
                    try await database.rows(
                        """
                        tenant_id, generation::text]) FROM projections
                        WHERE name = '\(projection)' AND failure IS NOT NULL ORDER BY generation
                        """) == ["other|1", "other|2"])
            }
        }
    }

    @Test func `events that only the served table could fold are not given up`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                try await database.fold()
                try await database.damageLast(of: .default)
                let error = await #expect(throws: OnlineRebuildFault.self) {
                    try await database.rebuildOnline(.userProviders)
                }
                guard case .unfoldable(.default, let damage) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(damage.position == LogPosition(3))
                #expect(try await states(database) == ["1|served"])
            }
        }
    }

    @Test func `a stopped table of an unknown fold is replaced by one that stops there, too`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                _ = try await story.signIn("apple", "bob")
                try await database.damageLast(of: .default)
                try await database.fold()
                try await database.asSuperuser.execute(
                    """
                    UPDATE projection_tables SET version = 0 WHERE name = 'user_providers';
                    UPDATE projections SET version = 0 WHERE name = 'user_providers'
                    """)
                let report = try await database.rebuildOnline(.userProviders)
                #expect(report.served.generation == 2 && report.differences == [])
                #expect(
                    try await database.rows(
                        """
                        count(*)::text, count(DISTINCT position)::text]) FROM projections
                        WHERE name = 'user_providers' AND failure IS NOT NULL
                        """) == ["2|1"])
            }
        }
    }

    @Test func `a table that continues replaces a stopped one, and is not compared there`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let other = try #require(TenantID("other"))
                try await fixture.open(other)
                var here = Story(fixture.sequencer)
                var there = Story(fixture.sequencer, tenant: other, seed: 2)
                _ = try await here.signIn("apple", "ada")
                _ = try await there.signIn("apple", "bob")
                try await database.fold()
                try await database.stop(.userProviders, generation: 1, of: other)
                _ = try await there.signIn("apple", "eve")
                let report = try await database.rebuildOnline(.userProviders)
                #expect(report.uncompared == [other])
                #expect(report.comparedRows == 1, "only the other tenant's rows")
                #expect(
                    try await database.userProviders()
                        == ["apple|ada|-", "apple|bob|-", "apple|eve|-"])
            }
        }
    }

    @Test func `a rejected table that is locked is neither folded into nor used again`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                try await database.fold()
                let interrupted = database.onlineRebuild { step in
                    if step == .ready { throw Interrupted() }
                }
                await #expect(throws: Interrupted.self) {
                    try await interrupted.run(.userProviders)
                }
                await interrupted.close()
                let table = try await database.rows(
                    "'user_providers_2'::regclass::oid::text]) FROM now()")
                try await database.asSuperuser.execute(
                    "UPDATE user_providers_1 SET email = 'x@y.z'")

                let holder = Session(url: database.superuserURL, applicationName: "holder")
                try await holder.step {
                    try $0.execute(
                        "BEGIN; SELECT FROM projections WHERE generation = 2 FOR UPDATE")
                }
                let error = await #expect(throws: OnlineRebuildFault.self) {
                    try await database.rebuildOnline(.userProviders)
                }
                await holder.close()
                guard case .left(let left, after: .differs, because: _) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(left.generation == 2)
                #expect(try await states(database) == ["1|served", "2|building"])
                try await story.link(ada, "google", "ada")
                try await database.fold()
                #expect(
                    try await database.rows("count(*)::text]) FROM user_providers_2") == ["1"],
                    "no projector folds into it")

                try await database.asSuperuser.execute(
                    """
                    UPDATE user_providers_1 SET email = 'ada@example.com' WHERE provider = 'apple'
                    """)
                let report = try await database.rebuildOnline(.userProviders)
                #expect(report.comparedRows == 2)
                #expect(
                    try await database.rows("'user_providers_2'::regclass::oid::text]) FROM now()")
                        != table, "it is another table")
                #expect(try await states(database) == ["1|previous", "2|served"])
            }
        }
    }

    @Test func `a locked table of an earlier rebuild is named`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                try await database.fold()
                let interrupted = database.onlineRebuild { step in
                    if step == .made { throw Interrupted() }
                }
                await #expect(throws: Interrupted.self) {
                    try await interrupted.run(.userProviders)
                }
                await interrupted.close()
                let holder = Session(url: database.superuserURL, applicationName: "holder")
                try await holder.step {
                    try $0.execute("BEGIN; LOCK TABLE user_providers_2 IN ACCESS SHARE MODE")
                }
                let error = await #expect(throws: OnlineRebuildFault.self) {
                    try await database.rebuildOnline(.userProviders)
                }
                await holder.close()
                #expect(error?.description.hasPrefix("user_providers_2 stays locked") == true)
                #expect(try await database.rebuildOnline(.userProviders).served.generation == 2)
            }
        }
    }

    private struct Interrupted: Error {}

    private func states(_ database: ScratchDatabase) async throws -> [String] {
        try await database.rows(
            """
            generation::text, state]) FROM projection_tables
            WHERE name = 'user_providers' ORDER BY generation
            """)
    }
}

extension ScratchDatabase {
    /// Replaces a tenant's last entry with invalid bytes.
    fileprivate func damageLast(of tenant: TenantID) async throws {
        try await asSuperuser.execute(
            """
            ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
            ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
            ALTER TABLE events DISABLE TRIGGER USER;
            UPDATE events SET entry = '\\xdeadbeef' WHERE tenant_id = '\(tenant)'
                AND position = (SELECT max(position) FROM events WHERE tenant_id = '\(tenant)')
            """)
    }

    /// Stops one table of a tenant as if its fold, or Postgres, had refused the next event.
    fileprivate func stop(
        _ projection: ProjectionName, generation: Int32, of tenant: TenantID
    ) async throws {
        try await asSuperuser.execute(
            """
            UPDATE projections SET failure = 'position ' || position || ', fold: it was refused'
            WHERE tenant_id = '\(tenant)' AND name = '\(projection)' AND generation = \(generation)
            """)
    }
}
