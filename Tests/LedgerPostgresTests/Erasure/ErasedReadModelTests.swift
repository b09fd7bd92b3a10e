import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// An erasure reaches every table of a read model, and the planner's statistics of them.
@Suite struct ErasedReadModelTests {
    private struct Interrupted: Error {}

    /// The reason why a table does not fold the erasure.
    enum Trouble: CaseIterable {
        /// A rebuild was interrupted after it had loaded, or indexed, the table.
        case loaded, indexed
        /// The same, of an earlier release, whose tables had no primary key until they were loaded.
        case unkeyed
        /// The table has stopped.
        case stopped
        /// The previous or the served table of a rebuild has stopped.
        case previousStopped, servedStopped
        /// No projector runs.
        case behind
    }

    @Test(arguments: Trouble.allCases)
    func `an erasure reaches tables that do not fold it`(trouble: Trouble) async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            try await cause(trouble, in: database)
            // Where a rebuild had loaded the data, they are present.
            #expect(try await database.tables(holding: "ada@work.example").isEmpty == false)
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            var limits = ErasureLimits()
            limits.events = 2
            if trouble == .behind { limits.patienceSeconds = 0 } else { try await database.fold() }
            try await database.destroy(limits: limits)
            #expect(try await destroyed(in: database) == ["\(fixture.ada.account)"])
            for text in ErasureFixture.adasData.dropLast(2) {
                #expect(try await database.tables(holding: text) == [], "\(text) is left")
            }
            let addresses = try await database.asSuperuser.texts(
                """
                SELECT account_id::text FROM account_audit_1
                WHERE account_id = '\(fixture.ada.account)' AND client_ip IS NOT NULL
                """)
            #expect(addresses == [])
            let flags = try await database.asSuperuser.texts(
                """
                SELECT provider FROM user_providers_1
                WHERE user_id = '\(fixture.ada.account)' AND email_verified IS NOT NULL
                """)
            #expect(flags == [])

            if [.stopped, .previousStopped, .servedStopped].contains(trouble) {
                let stopped = try await database.rows(
                    "name]) FROM projections WHERE failure IS NOT NULL")
                #expect(stopped == ["user_providers"])
                try await database.asSuperuser.execute("DROP FUNCTION refuse() CASCADE")
            }
            // Stopped tables resume, and everything matches the log.
            try await database.fold()
            let report = try await fixture.verify()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
        }
    }

    private func cause(_ trouble: Trouble, in database: ScratchDatabase) async throws {
        switch trouble {
        case .loaded, .indexed, .unkeyed:
            for projection in ProjectionName.allCases {
                let step = trouble == .indexed ? OnlineRebuildStep.indexed : .loaded
                let rebuild = OnlineRebuild(
                    ownerURL: database.ownerURL, keyring: SequencerFixture.keyring,
                    onStep: { if $0 == step { throw Interrupted() } })
                await #expect(throws: Interrupted.self) { try await rebuild.run(projection) }
                await rebuild.close()
                guard trouble == .unkeyed else { continue }
                try await database.asSuperuser.execute(
                    "ALTER TABLE \(projection)_2 DROP CONSTRAINT \(projection)_2_pkey")
            }
        case .stopped: try await stopAtErasures("user_providers_1", in: database)
        case .previousStopped, .servedStopped:
            let rebuild = OnlineRebuild(
                ownerURL: database.ownerURL, keyring: SequencerFixture.keyring)
            _ = try await rebuild.run(.userProviders)
            await rebuild.close()
            let generation = trouble == .previousStopped ? 1 : 2
            try await stopAtErasures("user_providers_\(generation)", in: database)
        case .behind: break
        }
    }

    /// Makes the fold of a table stop at the deletion of an erased account's rows.
    private func stopAtErasures(_ table: String, in database: ScratchDatabase) async throws {
        try await database.asSuperuser.with { connection in
            if !TestCluster.workers.isEmpty {
                try connection.execute("SET citus.enable_unsafe_triggers = on")
            }
            try connection.execute(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'a test'; END $$
                """)
            try connection.execute(
                """
                CREATE TRIGGER refuse BEFORE DELETE ON \(table)
                    FOR EACH ROW EXECUTE FUNCTION refuse()
                """)
        }
    }

    @Test func `an erasure waits for a table that a rebuild is filling`() async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            let account = fixture.ada.account
            let rebuild = OnlineRebuild(
                ownerURL: database.ownerURL, keyring: SequencerFixture.keyring,
                onStep: { step in
                    guard step == .loaded else { return }
                    var story = fixture.story
                    try await story.erase(account)
                    try await database.fold()
                    let worker = ErasureWorker(url: database.runtimeURL) { _ in }
                    #expect(try await worker.round() == 1)
                    #expect(try await destroyed(in: database) == [])
                    throw Interrupted()
                })
            await #expect(throws: Interrupted.self) { try await rebuild.run(.userProviders) }
            await rebuild.close()
            try await database.destroy()
            #expect(try await destroyed(in: database) == ["\(account)"])
            #expect(try await database.tables(holding: "ada@work.example") == [])
        }
    }

    @Test func `erasures that wait delay no others`() async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            let (ada, bob) = (fixture.ada.account, fixture.bob.account)
            let rebuild = OnlineRebuild(
                ownerURL: database.ownerURL, keyring: SequencerFixture.keyring,
                onStep: { step in
                    guard step == .loaded else { return }
                    var story = fixture.story
                    try await story.erase(ada)
                    try await story.erase(bob)
                    try await database.fold()
                    var limits = ErasureLimits()
                    limits.erasures = 1
                    let worker = ErasureWorker(url: database.runtimeURL, limits: limits) { _ in }
                    #expect(try await worker.round() == 2)
                    let left = try await database.rows(
                        """
                        position::text]) FROM disclosures
                        WHERE account_id IN ('\(ada)', '\(bob)')
                        """)
                    #expect(left == [])
                    throw Interrupted()
                })
            await #expect(throws: Interrupted.self) { try await rebuild.run(.userProviders) }
            await rebuild.close()
        }
    }

    @Test(arguments: [OnlineRebuildStep.made, .loaded, .indexed])
    func `a rebuild whose lease has lapsed brings no erased data back`(
        step: OnlineRebuildStep
    ) async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            for projection in ProjectionName.allCases {
                let rebuild = OnlineRebuild(
                    ownerURL: database.ownerURL, keyring: SequencerFixture.keyring,
                    onStep: { reached in
                        guard reached == step else { return }
                        try await database.lapseRebuilds()
                        guard projection == ProjectionName.allCases.last else { return }
                        var story = fixture.story
                        try await story.erase(fixture.ada.account)
                        try await database.fold()
                        try await database.destroy()
                    })
                let fault = await #expect(throws: OnlineRebuildFault.self) {
                    try await rebuild.run(projection)
                }
                guard case .leaseLost = fault else {
                    Issue.record("\(String(describing: fault))")
                    return
                }
                await rebuild.close()
            }
            #expect(try await destroyed(in: database) == ["\(fixture.ada.account)"])
            for text in ErasureFixture.adasData.dropLast(2) {
                #expect(try await database.tables(holding: text) == [], "\(text) is left")
            }
            let building = try await database.rows(
                "name]) FROM projection_tables WHERE state = 'building' AND generation = 2")
            #expect(building.count == ProjectionName.allCases.count)
            #expect(try await fixture.verify().holds)
        }
    }

    @Test func `migrating drops the table of an interrupted rebuild, and no other`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            let broken = OnlineRebuild(
                ownerURL: database.ownerURL, keyring: SequencerFixture.keyring,
                onStep: { step in
                    guard step == .loaded else { return }
                    #expect(try await database.migrate().dropped == [], "its rebuild is there")
                    throw Interrupted()
                })
            await #expect(throws: Interrupted.self) { try await broken.run(.userProviders) }
            try await database.lapseRebuilds()
            #expect(try await database.migrate().dropped == ["user_providers_2"])
            await broken.close()
            let names = try await database.rows("name, generation::text]) FROM projection_tables")
            #expect(names.sorted() == ["account_audit|1", "conflicts|1", "user_providers|1"])
            #expect(try await fixture.verify().holds)
        }
    }

    @Test func `the planner's statistics hold no personal data`() async throws {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            var story = fixture.story
            // Enough rows that samples are kept, and each value often enough to be a common one.
            for _ in 0..<3 {
                for number in 0..<4 {
                    _ = try await story.signIn(
                        "apple", "crowd-\(number)", email: "crowd-\(number)@example.org")
                }
            }
            try await database.fold()
            let rebuild = OnlineRebuild(
                ownerURL: database.ownerURL, keyring: SequencerFixture.keyring)
            for projection in ProjectionName.allCases { _ = try await rebuild.run(projection) }
            await rebuild.close()
            try await database.asSuperuser.execute("ANALYZE")
            let remembered = try await database.asSuperuser.texts(
                """
                SELECT concat_ws(' ', tablename, attname, most_common_vals, histogram_bounds)
                FROM pg_stats WHERE schemaname = 'public'
                """)
            #expect(remembered.count > 20)
            for text in ErasureFixture.adasData + ["crowd-", "bob@"] {
                #expect(remembered.filter { $0.contains(text) } == [], "\(text) is remembered")
            }
            let secrets = try await database.asSuperuser.texts(
                """
                SELECT tablename::text FROM pg_stats
                WHERE schemaname = 'public' AND attname IN ('wrapped_key', 'ciphertext')
                """)
            #expect(secrets == [])
        }
    }

    @Test func `migrating removes earlier statistics of personal data`() async throws {
        try await ScratchDatabase.with(isMigrated: false) { database in
            let before = Migrator(
                ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
                migrations: Array(Migration.embedded.prefix(7)))
            // The current grants and guards require the current tables; only the migrations matter here.
            _ = try? await database.asSuperuser.run(before)
            try await database.asSuperuser.execute(
                """
                INSERT INTO user_providers_1 SELECT 'default', gen_random_uuid(), 'apple',
                    'subject-' || n % 3, 'mail-' || n % 3, gen_random_uuid(), now(), n
                    FROM generate_series(1, 60) n;
                INSERT INTO identities SELECT 'default', 'apple', 'subject-' || n, gen_random_uuid(),
                    NULL, gen_random_uuid(), now(), n FROM generate_series(1, 60) n;
                ANALYZE
                """)
            let remembered = """
                SELECT tablename::text FROM pg_stats WHERE schemaname = 'public'
                    AND attname IN ('provider_id', 'email') ORDER BY 1
                """
            #expect(try await database.asSuperuser.texts(remembered).count == 3)
            #expect(try await database.migrate().applied.contains(8))
            #expect(try await database.asSuperuser.texts(remembered) == [])
            let shown = try await database.asRuntime.texts(
                "SELECT email FROM user_providers WHERE linked_position = 1")
            #expect(shown == ["mail-1"])
        }
    }

    private func destroyed(in database: ScratchDatabase) async throws -> [String] {
        try await database.rows("account_id::text]) FROM erasures WHERE destroyed_at IS NOT NULL")
    }
}
