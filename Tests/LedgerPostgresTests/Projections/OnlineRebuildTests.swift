import Cryptography
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Synchronization
import Testing

/// Rebuilding a read model into a new table that replaces the live one.
@Suite struct OnlineRebuildTests {
    /// The number of rows in each table after a sign-up and another link.
    private static let rowCounts: [ProjectionName: String] = [
        .userProviders: "2", .accountAudit: "4", .conflicts: "0",
    ]

    @Test(arguments: ProjectionName.allCases)
    func `a new table replaces the live one, and the old one is kept up to date`(
        projection: ProjectionName
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                try await database.fold()
                let report = try await database.rebuildOnline(projection)
                #expect(report.served.generation == 2)
                #expect(report.differences.isEmpty)
                #expect(try await database.shown(projection) == "\(projection)_2")

                try await story.link(ada, "google", "ada-g")
                try await database.fold()
                #expect(
                    try await database.userProviders() == [
                        "apple|ada|ada@example.com", "google|ada-g|-",
                    ])
                try await database.expectComplete()
                for side in ["1", "2"] {
                    #expect(
                        try await database.rows(
                            "count(*)::text]) FROM \(projection)_\(side)")
                            == [Self.rowCounts[projection]])
                }
            }
        }
    }

    @Test func `a rollback serves the old table, with the events since`() async throws {
        try await withServers { database, sequencer in
            var story = Story(sequencer)
            _ = try await story.signIn("apple", "before")
            _ = try await database.rebuildOnline(.userProviders)
            _ = try await story.signIn("apple", "meanwhile")
            let rebuild = database.onlineRebuild()
            let back = try await rebuild.rollBack(.userProviders)
            #expect(back.generation == 1)
            #expect(try await database.shown(.userProviders) == "user_providers_1")
            #expect(
                try await database.userProviders() == ["apple|before|-", "apple|meanwhile|-"])
            _ = try await rebuild.rollBack(.userProviders)
            #expect(try await database.shown(.userProviders) == "user_providers_2")
            await rebuild.close()
        }
        // Both were complete at the end; see `withServers`.
    }

    @Test func `keys other than the ledger's are refused before anything is changed`() async throws
    {
        try await withServers { database, sequencer in
            var story = Story(sequencer)
            _ = try await story.signIn("apple", "ada")
            let key = try #require(SymmetricKey(bytes: Array(repeating: 1, count: 32)))
            let rebuild = OnlineRebuild(
                ownerURL: database.ownerURL,
                keyring: WrappingKeyring(
                    currentID: "other", current: key, macs: SequencerFixture.keyring.macs))
            for projection in ProjectionName.allCases {
                await #expect(throws: OnlineRebuildFault.self) {
                    try await rebuild.run(projection)
                }
                await #expect(throws: OnlineRebuildFault.self) {
                    try await rebuild.rollBack(projection)
                }
            }
            #expect(
                try await database.rows(
                    "count(*)::text]) FROM projections WHERE failure IS NOT NULL")
                    == ["0"])
            await rebuild.close()
        }
    }

    @Test func `another rebuild requires the previous table to be dropped`() async throws {
        try await withServers { database, sequencer in
            var story = Story(sequencer)
            _ = try await story.signIn("apple", "ada")
            let rebuild = database.onlineRebuild()
            await #expect(throws: OnlineRebuildFault.self) {
                try await rebuild.dropPrevious(.userProviders)
            }
            _ = try await rebuild.run(.userProviders)
            await #expect(throws: OnlineRebuildFault.self) {
                try await rebuild.run(.userProviders)
            }
            let dropped = try await rebuild.dropPrevious(.userProviders)
            #expect(dropped.generation == 1)
            await #expect(throws: OnlineRebuildFault.self) {
                try await rebuild.rollBack(.userProviders)
            }
            #expect(try await rebuild.run(.userProviders).served.generation == 3)
            await rebuild.close()
        }
    }

    @Test(arguments: OnlineRebuildStep.allCases)
    func `a rebuild that ends after any step can be started again, under load`(
        step: OnlineRebuildStep
    ) async throws {
        try await withServers { database, sequencer in
            let isOver = Mutex(false)
            async let written = write(to: sequencer, until: { isOver.withLock { $0 } })
            for projection in ProjectionName.allCases {
                let broken = database.onlineRebuild { reached in
                    if reached == step { throw Interrupted() }
                }
                await #expect(throws: Interrupted.self) { try await broken.run(projection) }
                await broken.close()
                let again = database.onlineRebuild()
                do {
                    _ = try await again.run(projection)
                } catch OnlineRebuildFault.previousIsKept {
                    // The rebuild had finished.
                    #expect(step == .swapped)
                }
                await again.close()
                #expect(try await database.shown(projection) == "\(projection)_2")
            }
            isOver.withLock { $0 = true }
            #expect(try await written > 0)
        }
    }

    @Test func `an unexplained difference prevents the exchange and is reported`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                _ = try await story.signIn("apple", "bob")
                try await database.fold()
                try await database.asSuperuser.execute(
                    "UPDATE user_providers_1 SET email = 'x@y.z' WHERE provider_id = 'ada'")
                let error = await #expect(throws: OnlineRebuildFault.self) {
                    try await database.rebuildOnline(.userProviders)
                }
                guard case .differs(let difference) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect((difference.onlyOld, difference.onlyNew) == (1, 1))
                #expect(difference.position == LogPosition(7))
                #expect(try await database.shown(.userProviders) == "user_providers_1")
                #expect(
                    try await database.rows("count(*)::text]) FROM projection_tables")
                        == ["\(ProjectionName.allCases.count)"])

                // A table of another version may differ: the exchange then happens.
                try await database.asSuperuser.execute(
                    """
                    UPDATE projection_tables SET version = 0 WHERE name = 'user_providers';
                    UPDATE projections SET version = 0 WHERE name = 'user_providers'
                    """)
                let report = try await database.rebuildOnline(.userProviders)
                #expect(report.differences.map(\.onlyNew) == [1])
                #expect(try await database.userProviders() == ["apple|ada|-", "apple|bob|-"])
            }
        }
    }

    @Test func `the serving login cannot create the table but can fold into it`() async throws {
        try await ScratchDatabase.with(owner: .roleCreator) { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                try await database.fold()
                let refused = OnlineRebuild(
                    ownerURL: database.runtimeURL, keyring: SequencerFixture.keyring)
                await #expect(throws: PostgresError.self) {
                    try await refused.run(.userProviders)
                }
                await refused.close()
                _ = try await database.rebuildOnline(.userProviders)
                _ = try await story.signIn("apple", "bob")
                try await database.fold()
                _ = try await database.migrate()
                _ = try await story.signIn("apple", "eve")
                try await database.fold()
                try await database.expectComplete()
                #expect(try await database.userProviders().count == 3)
            }
        }
    }

    private struct Interrupted: Error {}

    /// Runs two projectors, like two server processes; checks that every table is complete at the end.
    private func withServers(
        _ body: @Sendable (ScratchDatabase, Sequencer) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let projectors = [50, 4_000].map { database.projector(batch: $0) }
                let running = Task {
                    await withDiscardingTaskGroup { group in
                        for projector in projectors {
                            group.addTask { await projector.run() }
                        }
                    }
                }
                try await body(database, fixture.sequencer)
                try await eventually("every table has folded everything") {
                    try await projectors[0].status().allSatisfy {
                        $0.lag == 0 && $0.failure == nil
                    }
                }
                running.cancel()
                await running.value
                try await database.expectComplete()
            }
        }
    }

    private func write(
        to sequencer: Sequencer, until isOver: @Sendable () -> Bool
    ) async throws -> Int {
        var story = Story(sequencer, seed: 7)
        var count = 0
        while !isOver() {
            let person = try await story.signIn("apple", "person-\(count)", email: "a@b.c")
            try await story.link(person, "google", "person-\(count)")
            if count % 3 == 0 { try await story.unlink(person, "apple") }
            count += 1
        }
        return count
    }
}

extension ScratchDatabase {
    func onlineRebuild(
        onStep: @escaping @Sendable (OnlineRebuildStep) async throws -> Void = { _ in }
    ) -> OnlineRebuild {
        OnlineRebuild(ownerURL: ownerURL, keyring: SequencerFixture.keyring, onStep: onStep)
    }

    func rebuildOnline(_ projection: ProjectionName) async throws -> OnlineRebuildReport {
        let rebuild = onlineRebuild()
        do {
            let report = try await rebuild.run(projection)
            await rebuild.close()
            return report
        } catch {
            await rebuild.close()
            throw error
        }
    }

    /// Returns the table that a view serves.
    func shown(_ projection: ProjectionName) async throws -> String {
        try await asSuperuser.texts(
            """
            SELECT DISTINCT d.refobjid::regclass::text FROM pg_rewrite r
            JOIN pg_depend d ON d.objid = r.oid AND d.refobjid <> r.ev_class
                AND d.refclassid = 'pg_class'::regclass
            WHERE r.ev_class = '\(projection)'::regclass
            """
        ).joined()
    }

    /// Verifies every row of every live table against the log.
    func expectComplete() async throws {
        let report = try await Verifier(
            url: superuserURL, keyring: SequencerFixture.keyring
        ).run()
        #expect(report.holds, "\(report.findings)")
    }
}
