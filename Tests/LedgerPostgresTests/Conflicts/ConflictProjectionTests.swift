import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerPostgres

/// `conflicts` as projectors fold it, compared with the fold of the whole log.
@Suite struct ConflictProjectionTests {
    @Test(arguments: [(UInt64(51), 1), (52, 7), (53, 1_000)])
    func `a random history is folded correctly with pages of any size`(
        seed: UInt64, batch: Int
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let projector = database.projector(batch: batch)
                let running = Task { await projector.run() }
                var commands = RandomCommands(seed: seed, subjectsPerProvider: 3)
                for _ in 0..<250 {
                    commands.learn(try await fixture.sequencer.submit(commands.next()))
                }
                try await eventually("everything is folded") {
                    try await projector.status().allSatisfy { $0.lag == 0 || $0.failure != nil }
                }
                running.cancel()
                await running.value
                let expected = try Self.folded(try await fixture.log().map(\.recorded))
                #expect(expected.contains { $0.state == .resolved })
                #expect(expected.contains { $0.state == .open })
                #expect(try await Self.stored(in: database) == expected)
                try await Self.check(database)
                let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
                for report in try await rebuild.run(.conflicts) {
                    #expect(report.fault == nil && report.differences == 0, "\(report)")
                }
                await rebuild.close()
            }
        }
    }

    @Test func `a rebuild repairs differences`() async throws {
        try await Self.withConflicts { database, expected in
            try await database.asSuperuser.execute(
                """
                DELETE FROM conflicts_1 WHERE first_position = (SELECT min(first_position) FROM conflicts_1);
                UPDATE conflicts_1 SET attempts = 9 WHERE first_position =
                    (SELECT max(first_position) FROM conflicts_1);
                INSERT INTO conflicts_1 SELECT * FROM conflicts_1 LIMIT 0
                """)
            let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try #require(try await rebuild.run(.conflicts).first)
            #expect(report.missing == 1 && report.different == 1 && report.surplus == 0)
            let first = try #require(report.first)
            #expect(first.kind == .missing && first.position == expected[0].first.position)
            #expect(first.account == expected[0].caller)
            await rebuild.close()
            #expect(try await Self.stored(in: database) == expected)
            try await Self.check(database)
        }
    }

    @Test func `an online rebuild gives the same rows, with every index`() async throws {
        try await Self.withConflicts { database, expected in
            let indexes = """
                SELECT replace(indexdef, 'conflicts_%', 'conflicts_') FROM pg_indexes
                WHERE tablename = 'conflicts_%' ORDER BY 1
                """
            let before = try await database.asSuperuser.texts(
                indexes.replacing("%", with: "1"))
            #expect(before.count == 7)
            let report = try await database.rebuildOnline(.conflicts)
            #expect(report.differences.isEmpty)
            #expect(
                try await database.asSuperuser.texts(indexes.replacing("%", with: "2")) == before)
            #expect(try await Self.stored(in: database) == expected)
            try await Self.check(database)
        }
    }

    @Test func `requests do not wait for the projection of conflicts`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await fixture.database.fold()
            let projector = fixture.database.projector()
            // The rows of this table are locked, as if a page had too many of them.
            let session = Postgres.Session(
                url: fixture.database.superuserURL, applicationName: "test",
                statementDeadline: .seconds(60))
            try await session.step {
                try $0.execute("BEGIN; LOCK TABLE conflicts_1 IN ACCESS EXCLUSIVE MODE")
            }
            try await story.link(fixture.bob, "apple", "ada-a")
            _ = try await story.signIn("apple", "somebody")
            let running = Task { await projector.run() }
            try await eventually("all but conflicts are folded") {
                try await projector.status().allSatisfy {
                    $0.lag == 0 || $0.projection == .conflicts
                }
            }
            #expect(
                try await projector.status().contains {
                    $0.lag > 0 && $0.failure == nil && $0.projection == .conflicts
                })
            try await session.step { try $0.execute("ROLLBACK") }
            await session.close()
            try await eventually("conflicts are folded, too") {
                try await projector.status().allSatisfy { $0.lag == 0 && $0.failure == nil }
            }
            running.cancel()
            await running.value
            try await fixture.check()
        }
    }

    @Test func `a resolved conflict is not written again`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await story.unlink(fixture.ada, "apple")
            try await fixture.database.fold()
            let rows = "SELECT xmin::text || ' ' || resolved_type FROM conflicts_1"
            let before = try await fixture.database.asSuperuser.texts(rows)
            #expect(before.count == 1 && before[0].hasSuffix(" ProviderUnlinked"), "\(before)")
            try await story.link(fixture.ada, "apple", "ada-a")
            try await fixture.database.fold()
            try await story.unlink(fixture.ada, "apple")
            try await fixture.database.fold()
            #expect(try await fixture.database.asSuperuser.texts(rows) == before)
            try await fixture.check()
        }
    }

    @Test func `a tenant's conflicts are found however many others have`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            // More than a load inspects to see whether there are any, and all before the tenant's own.
            try await fixture.database.asSuperuser.execute(
                """
                INSERT INTO conflicts_1 (tenant_id, first_position, first_event, first_at,
                    last_position, last_event, last_at, attempts, reason, provider, caller_id,
                    caller_now, callers)
                SELECT 'crowded', n, id, now(), n, id, now(), 1, 'provider_taken', 'apple', id, id,
                    ARRAY[id::text]
                FROM generate_series(1, 200) n, LATERAL (SELECT lpad(n::text, 32, '0')::uuid) k (id)
                """)
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            try await story.unlink(fixture.ada, "apple")
            try await fixture.database.fold()
            let resolved = try await fixture.database.asSuperuser.texts(
                "SELECT coalesce(resolved_type, '-') FROM conflicts_1 WHERE tenant_id <> 'crowded'")
            #expect(resolved == ["ProviderUnlinked"])
        }
    }

    @Test func `an event that does not fit stops this projection alone`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            // Only a program with a bug leaves such a row.
            try await fixture.database.asSuperuser.execute(
                "UPDATE conflicts_1 SET holder_now = gen_random_uuid()")
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            let stopped = try await fixture.database.asSuperuser.texts(
                "SELECT name || ' ' || failure FROM projections WHERE failure IS NOT NULL")
            #expect(stopped.count == 1)
            #expect(stopped.first?.hasPrefix("conflicts position ") == true, "\(stopped)")
            #expect(try await !fixture.report().holds)
            let rebuild = Rebuild(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await rebuild.run(.conflicts)
            #expect(report.first?.differences == 1)
            await rebuild.close()
            try await fixture.check()
        }
    }

    @Test func `a missing row stops it, too`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            let projector = fixture.database.projector()
            try await fixture.database.asSuperuser.execute(
                """
                CREATE FUNCTION vanish() RETURNS trigger LANGUAGE plpgsql AS
                    'BEGIN RETURN NULL; END';
                CREATE TRIGGER vanish BEFORE DELETE ON conflicts_1
                    FOR EACH ROW EXECUTE FUNCTION vanish()
                """)
            try await story.link(fixture.bob, "apple", "ada-a")
            let running = Task { await projector.run() }
            try await eventually("conflicts has stopped") {
                try await projector.status().contains {
                    $0.failure != nil
                }
            }
            running.cancel()
            await running.value
            let stopped = try await fixture.database.asSuperuser.texts(
                "SELECT name FROM projections WHERE failure IS NOT NULL")
            #expect(stopped == ["conflicts"])
        }
    }

    @Test func `an erasure leaves ids and times, which hold nothing personal`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a", email: "met@a.example")
            try await fixture.database.fold()
            try await story.erase(fixture.ada.account)
            try await fixture.database.fold()
            try await fixture.database.destroy()
            let reads = ConflictReads(url: fixture.database.runtimeURL) { _ in }
            let page = try await reads.conflicts(
                matching: ConflictQuery(limit: 10), in: .default)
            let conflict = try #require(page.page.elements.first)
            #expect(conflict.resolution?.type == "AccountErased")
            #expect(conflict.holder == fixture.ada.account && conflict.holderNow == nil)
            for text in ["ada-a", "ada@a.example", "met@a.example"] {
                #expect(try await fixture.database.tables(holding: text) == [])
            }
            await reads.close()
            try await fixture.check()
        }
    }

    @Test func `pages are in the order of the last attempts, or in the reverse one`()
        async throws
    {
        try await Self.withConflicts { database, expected in
            let reads = ConflictReads(url: database.runtimeURL) { _ in }
            let ordered = expected.sorted { $0.last.position < $1.last.position }
            for state in [nil, Conflict.State.open, .resolved] {
                for (account, order)
                    in ([nil] + Set(ordered.flatMap(\.callers)).map { Optional($0) })
                    .flatMap({ account in ReadingOrder.allCases.map { (account, $0) } })
                {
                    var query = ConflictQuery(limit: 2)
                    query.order = order
                    query.state = state
                    query.account = account
                    var found: [Conflict] = []
                    var page: ConflictPage
                    repeat {
                        page = try await reads.conflicts(matching: query, in: .default)
                        #expect(page.foldedSize == page.logSize)
                        found += page.page.elements
                        query.after = page.page.cursor.map { LogPosition($0) }
                    } while page.page.hasMore
                    let all = order == .oldest ? ordered : ordered.reversed()
                    #expect(found == all.filter { query.wants($0) })
                }
            }
            await reads.close()
        }
    }

    /// Runs a body with a folded ledger of random conflicts, in the order of their first attempts.
    private static func withConflicts(
        _ body: @Sendable (ScratchDatabase, [Conflict]) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            let log = try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(seed: 61, subjectsPerProvider: 3)
                for _ in 0..<200 {
                    commands.learn(try await fixture.sequencer.submit(commands.next()))
                }
                return try await fixture.log().map(\.recorded)
            }
            try await database.fold()
            let conflicts = try folded(log)
            #expect(conflicts.count > 4)
            try await body(database, conflicts)
        }
    }

    private static func folded(_ log: [RecordedEvent]) throws -> [Conflict] {
        var fold = ConflictFold()
        for recorded in log { try fold.apply(recorded) }
        return fold.conflicts
    }

    private static func stored(in database: ScratchDatabase) async throws -> [Conflict] {
        let reads = ConflictReads(url: database.runtimeURL) { _ in }
        let page = try await reads.conflicts(
            matching: ConflictQuery(limit: 10_000), in: .default)
        await reads.close()
        return page.page.elements.sorted { $0.first.position < $1.first.position }
    }

    private static func check(_ database: ScratchDatabase) async throws {
        for keyring in [SequencerFixture.keyring, nil] {
            let verifier = Verifier(url: database.runtimeURL, keyring: keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
        }
    }
}
