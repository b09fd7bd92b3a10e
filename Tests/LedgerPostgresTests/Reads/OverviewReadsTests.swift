import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// The figures by day, and the other reads of staff, in Postgres.
@Suite struct OverviewReadsTests {
    private func count(_ database: ScratchDatabase) async throws {
        let worker = FigureWorker(url: database.runtimeURL)
        while try await worker.round() {}
        await worker.close()
    }

    private func figures(
        _ database: ScratchDatabase, days: Int = 2, through last: Timestamp
    ) async throws -> Overview {
        let reads = OverviewReads(url: database.runtimeURL) { _ in }
        let overview = try await reads.overview(days: days, through: last, in: .default)
        await reads.close()
        return overview
    }

    /// Returns the figures that follow from the log.
    private func expected(
        _ log: [RecordedEvent], days: Int = 2, through last: Timestamp
    ) -> [DayFigures] {
        var figures = DayFigures.days(days, through: last)
        for recorded in log {
            let day = DayFigures.day(of: recorded.recordedAt)
            guard let place = figures.firstIndex(where: { $0.day == day }) else { continue }
            figures[place].add(1, ofType: recorded.event.name.rawValue)
        }
        return figures
    }

    @Test func `figures are those of the log, however often they are counted`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await count(fixture.database)
            try await count(fixture.database)
            _ = try await fixture.merge()
            let uncounted = try await fixture.sequencer.log().map(\.recorded)
            let last = try #require(uncounted.last).recordedAt
            let before = try await figures(fixture.database, through: last)
            #expect(before.countedSize == before.logSize - 1)
            try await count(fixture.database)
            let after = try await figures(fixture.database, through: last)
            #expect(after.days == expected(uncounted, through: last))
            #expect(after.days.last.map { $0.conflictsAndMerges } == [1, 1])
            #expect(after.countedSize == Int64(uncounted.count))
            #expect(
                after.projections.map(\.name) == ["account_audit", "conflicts", "user_providers"])
            #expect(after.projections.allSatisfy { $0.lag == 0 && $0.failure == nil })
            try await fixture.check()
        }
    }

    @Test func `a rebuild repairs figures, and a shorter log starts them again`() async throws {
        try await MergeFixture.with { fixture in
            try await count(fixture.database)
            let log = try await fixture.sequencer.log().map(\.recorded)
            let last = try #require(log.last).recordedAt
            try await fixture.database.asSuperuser.execute(
                "UPDATE daily_figures SET events = events + 7")
            let worker = FigureWorker(url: fixture.database.runtimeURL)
            let counted = try await worker.rebuild(nil)
            #expect(counted.map(\.size) == [Int64(log.count)])
            await worker.close()
            let repaired = try await figures(fixture.database, through: last)
            #expect(repaired.days == expected(log, through: last))
            try await fixture.database.asSuperuser.execute(
                "UPDATE figure_heads SET next_position = next_position + 7")
            try await count(fixture.database)
            let again = try await figures(fixture.database, through: last)
            #expect(again.days == expected(log, through: last))
        }
    }

    /// The SQL that appends events whose entries can't be decoded.
    private static func undecodable(_ positions: Range<Int64>) -> String {
        """
        INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
            command_id, actor, entry, mac)
        SELECT 'default', n, gen_random_uuid(), 'SignedIn', 1, 'epoch'::timestamptz,
            gen_random_uuid(), 'system', '\\x7b7d', decode(repeat('00', 20), 'hex')
        FROM generate_series(\(positions.lowerBound), \(positions.upperBound - 1)) AS n
        """
    }

    @Test func `a step counts a bounded part of the log`() async throws {
        try await ScratchDatabase.with { database in
            let size = FigureWorker.eventsMax + 10
            try await database.asSuperuser.execute(
                """
                \(Self.undecodable(0..<size));
                INSERT INTO ledger_head VALUES ('default', \(size), now())
                """)
            let worker = FigureWorker(url: database.runtimeURL)
            #expect(try await worker.round())
            let first = try await figures(database, days: 1, through: Timestamp(seconds: 0))
            #expect(first.countedSize == FigureWorker.eventsMax)
            #expect(try await !worker.round())
            let all = try await figures(database, days: 1, through: Timestamp(seconds: 0))
            #expect(all.countedSize == size && all.days.first?.events == size)
            await worker.close()
        }
    }

    @Test(arguments: [UInt64(4), 9])
    func `the holders of every identity follow from the log`(seed: UInt64) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(seed: seed, subjectsPerProvider: 2)
                for _ in 0..<110 {
                    commands.learn(try await fixture.sequencer.submit(commands.next()))
                }
                let log = try await fixture.log().map(\.recorded)
                let reads = OwnerReads(
                    url: database.runtimeURL, macs: SequencerFixture.keyring.macs
                ) { _ in }
                var several = 0
                for identity in Set(log.compactMap(\.event.fact.attributes.identity)) {
                    var collection = HoldingCollection(of: identity)
                    for recorded in log { try collection.apply(recorded) }
                    let found = try await reads.owners(of: identity, in: .default)
                    #expect(found?.holdings ?? [] == collection.holdings)
                    #expect(found?.isComplete ?? true)
                    several += collection.holdings.count > 1 ? 1 : 0
                }
                #expect(several > 0, "some identity had several holders")
                #expect(try await reads.owners(of: IdentityID(bits: 7), in: .default) == nil)
                await reads.close()
            }
        }
    }

    @Test func `a read of holders is bounded, and says how far it came`() async throws {
        try await MergeFixture.with { fixture in
            let log = try await fixture.sequencer.log().map(\.recorded)
            let linked = try #require(log.first { $0.event.name == .providerLinked })
            let identity = try #require(linked.event.fact.attributes.identity)
            let end = linked.position.value + 1
            let reads = OwnerReads(
                url: fixture.database.runtimeURL, macs: nil, positionsMax: end
            ) { _ in }
            let found = try #require(try await reads.owners(of: identity, in: .default))
            #expect(found.end.value == end && !found.isComplete)
            #expect(found.holdings.map(\.account) == linked.accounts.map(\.id))
            await reads.close()
        }
    }

    @Test func `erasures of other accounts do not end a read of holders`() async throws {
        try await MergeFixture.with { fixture in
            let log = try await fixture.sequencer.log().map(\.recorded)
            let linked = try #require(log.first { $0.event.name == .providerLinked })
            let identity = try #require(linked.event.fact.attributes.identity)
            let named = log.count { $0.event.fact.attributes.identity == identity }
            var story = fixture.story()
            _ = try await story.erase(fixture.bob.account).get()
            // More than a search reads at once.
            let end = Int64(log.count) + 1
            try await fixture.database.asSuperuser.execute(
                """
                \(Self.undecodable(end..<end + 10_000));
                UPDATE ledger_head SET next_position = \(end + 10_000)
                """)
            let reads = OwnerReads(
                url: fixture.database.runtimeURL, macs: nil, eventsMax: Int64(named) + 1
            ) { _ in }
            let found = try #require(try await reads.owners(of: identity, in: .default))
            #expect(found.isComplete)
            #expect(found.holdings.map(\.account) == [fixture.ada.account])
            await reads.close()
        }
    }

    @Test func `holds are read in pages of accounts`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            for guest in [fixture.ada, fixture.bob, fixture.ada] {
                _ = try await story.hold(guest.account).get()
            }
            let log = try await fixture.sequencer.log().map(\.recorded.event)
            let holds = log.compactMap { event in
                if case .legalHoldSet(let fact) = event { fact.hold } else { nil }
            }
            let reads = HoldReads(url: fixture.database.runtimeURL) { _ in }
            let accounts = [fixture.ada.account, fixture.bob.account].sorted()
            let first = try await reads.holds(after: nil, accounts: 1, in: .default)
            #expect(Set(first.holds.map(\.account)) == [accounts[0]] && first.hasMore)
            let rest = try await reads.holds(after: accounts[0], accounts: 1, in: .default)
            #expect(Set(rest.holds.map(\.account)) == [accounts[1]] && !rest.hasMore)
            #expect(Set((first.holds + rest.holds).map(\.hold)) == Set(holds))
            let none = try await reads.holds(after: nil, accounts: 10, in: tenant("acme"))
            #expect(none.holds.isEmpty && !none.hasMore)
            await reads.close()
        }
    }
}

extension DayFigures {
    fileprivate var conflictsAndMerges: [Int64] {
        [count(of: .conflictRejected), count(of: .accountsMerged)]
    }
}
