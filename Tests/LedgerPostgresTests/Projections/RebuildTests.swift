import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// Refolding a read model beside the live one.
@Suite struct RebuildTests {
    @Test(arguments: ProjectionName.allCases)
    func `a correct table is left unchanged`(projection: ProjectionName) async throws {
        try await withStory { database in
            let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await rebuild.run(projection, in: .default)
            #expect(report.wasCorrect, "\(report)")
            #expect(report.position == LogPosition(8))
        }
    }

    @Test func `missing, surplus and different rows are found and repaired`() async throws {
        try await withStory { database in
            let before = try await database.userProviders()
            try await database.asSuperuser.execute(
                """
                DELETE FROM user_providers_1 WHERE provider_id = 'ada-g';
                UPDATE user_providers_1 SET email = 'mallory@example.com' WHERE provider_id = 'ada';
                INSERT INTO user_providers_1 SELECT tenant_id, user_id, 'facebook', 'mallory', NULL,
                    gen_random_uuid(), linked_at, 6 FROM user_providers_1 WHERE provider_id = 'ada';
                UPDATE projections SET failure = 'position 8: an old failure'
                WHERE name = 'user_providers'
                """)
            let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try #require(try await rebuild.run(.userProviders).first)
            #expect((report.missing, report.surplus, report.different) == (1, 1, 1))
            #expect(report.first?.kind == .different)
            #expect(report.first?.position == LogPosition(2))
            #expect(report.first?.columns == "email")
            #expect(try await database.userProviders() == before)
            let status = try await database.projector().status()
            #expect(status.allSatisfy { $0.failure == nil && $0.lag == 0 })
            #expect(try await rebuild.run(.userProviders, in: .default).wasCorrect)
        }
    }

    @Test func `a missing or changed audit row is restored`() async throws {
        try await withStory { database in
            try await database.asSuperuser.execute(
                """
                DELETE FROM account_audit_1 WHERE position = 4;
                UPDATE account_audit_1 SET providers_after = '{}' WHERE position = 7
                """)
            let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await rebuild.run(.accountAudit, in: .default)
            #expect((report.missing, report.surplus, report.different) == (1, 0, 1))
            #expect(report.first?.kind == .missing)
            #expect(report.first?.position == LogPosition(4))
            #expect(try await rebuild.run(.accountAudit, in: .default).wasCorrect)
        }
    }

    @Test func `a table with the name of the rebuild's own is not used`()
        async throws
    {
        try await withStory { database in
            try await database.asSuperuser.execute(
                """
                DO $$
                DECLARE
                    live name;
                BEGIN
                    FOR live IN SELECT relname FROM pg_class
                        WHERE relkind = 'r' AND starts_with(relname, 'user_providers')
                    LOOP
                        EXECUTE format('CREATE TABLE public.%I (LIKE %I)', 'refold_' || live, live);
                        EXECUTE format('GRANT ALL ON public.%I TO PUBLIC', 'refold_' || live);
                        EXECUTE format('INSERT INTO public.%I TABLE %I', 'refold_' || live, live);
                    END LOOP;
                END $$
                """)
            let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            #expect(try await rebuild.run(.userProviders, in: .default).wasCorrect)
            await rebuild.close()
        }
    }

    @Test func `an event that cannot be folded leaves the live table alone`() async throws {
        try await withStory(owner: .plain) { database in
            let before = try await database.userProviders()
            try await database.asSuperuser.execute(
                """
                ALTER TABLE events DISABLE TRIGGER USER;
                UPDATE events SET entry = '\\x00' WHERE position = 4;
                """)
            let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await rebuild.run(.userProviders, in: .default)
            #expect(report.fault?.position == LogPosition(4))
            #expect(try await database.userProviders() == before)
        }
    }

    @Test func `a rebuild beside a running projector ends at its position`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let projector = database.projector(batch: 5)
                let running = Task { await projector.run() }
                async let writing: Void = write(100, on: fixture.sequencer) { projector.wake() }
                let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
                for projection in ProjectionName.allCases + ProjectionName.allCases {
                    let report = try await rebuild.run(projection, in: .default)
                    #expect(report.wasCorrect, "\(report)")
                }
                try await writing
                try await eventually("everything is folded") {
                    try await projector.status().allSatisfy { $0.lag == 0 }
                }
                running.cancel()
                await running.value
                let report = try await Verifier(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring
                ).run()
                #expect(report.holds, "\(report.findings)")
            }
        }
    }

    private func write(
        _ people: Int, on sequencer: Sequencer, _ wake: @Sendable () -> Void
    ) async throws {
        var story = Story(sequencer)
        for number in 0..<people {
            let person = try await story.signIn("apple", "person-\(number)", email: "a@b.c")
            try await story.link(person, "google", "person-\(number)")
            wake()
        }
    }

    /// Runs a body with a story: positions 1 to 3 sign Ada up, 4 links Google, 5 to 7 sign Bob up.
    private func withStory(
        owner: ScratchDatabase.Owner = .superuser,
        _ body: @Sendable (ScratchDatabase) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with(owner: owner) { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                try await story.link(ada, "google", "ada-g")
                _ = try await story.signIn("google", "bob")
                try await database.fold()
                try await body(database)
            }
        }
    }
}

extension RebuildReport {
    /// Whether the table matched the log.
    fileprivate var wasCorrect: Bool { differences == 0 && fault == nil }
}
