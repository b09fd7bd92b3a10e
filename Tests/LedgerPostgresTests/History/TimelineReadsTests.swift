import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

/// Timelines from a real log.
@Suite struct TimelineReadsTests {
    @Test(arguments: [UInt64(41), 42, 43])
    func `a random history's timelines are the fold of the log`(seed: UInt64) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var commands = RandomCommands(seed: seed, subjectsPerProvider: 3)
                for step in 0..<150 {
                    commands.learn(try await fixture.sequencer.submit(commands.next()))
                    // From here on the log itself is scanned.
                    if step == 100 { try await database.fold() }
                }
                let log = try await fixture.log()
                let reads = HistoryReads(url: database.runtimeURL, keyring: nil)
                for account in Set(log.flatMap { $0.recorded.accounts.map(\.id) }) {
                    var fold = TimelineFold(
                        of: account, in: .default, after: nil, limit: log.count)
                    while let wanted = fold.wanted {
                        for event in log
                        where event.recorded.accounts.contains(where: { $0.id == wanted }) {
                            try fold.apply(event.recorded, leaf: event.leaf)
                        }
                        try fold.finish(.log)
                    }
                    let expected = fold.page(
                        asOf: nil, log: LogExtent(size: Int64(log.count), signedSize: nil))
                    var rows: [TimelineRow] = []
                    var cursor: TimelineCursor?
                    while true {
                        let page = try #require(
                            await reads.timeline(
                                of: account, after: cursor, asOf: nil, limit: 10,
                                isDisclosing: false, in: .default))
                        #expect(page.accounts == expected.accounts)
                        #expect(page.eventCount == expected.eventCount)
                        rows += page.rows
                        guard page.hasMore else { break }
                        cursor = page.next
                    }
                    #expect(rows.map(\.recorded) == expected.rows.map(\.recorded))
                    #expect(rows.map(\.changes) == expected.rows.map(\.changes))
                    let last = try #require(
                        await reads.timeline(
                            of: account, .newest, after: nil, asOf: nil, limit: 10,
                            isDisclosing: false, in: .default))
                    #expect(last.rows.map(\.recorded) == rows.reversed().prefix(10).map(\.recorded))
                    #expect(last.hasMore == (rows.count > 10))
                }
                await reads.close()
            }
        }
    }

    @Test func `a family discloses its own data, and nothing after its erasure`() async throws {
        try await MergeFixture.with { fixture in
            let merge = try await fixture.merge()
            let reads = HistoryReads(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring)
            func values(_ guest: Guest) async throws -> [String] {
                let page = try #require(
                    await reads.timeline(
                        of: guest.account, after: nil, asOf: nil, limit: 100,
                        isDisclosing: true, in: .default))
                let newest = try await reads.timeline(
                    of: guest.account, .newest, after: nil, asOf: nil, limit: 100,
                    isDisclosing: true, in: .default)
                #expect(newest?.rows.map(\.disclosed) == page.rows.reversed().map(\.disclosed))
                return page.rows.flatMap { $0.disclosed?.values.map(\.value) ?? [] }
            }
            let one = Set(try await values(fixture.bob))
            #expect(one.isSuperset(of: ["ada@a.example", "bob@f.example", "one person", "case 7"]))
            try await fixture.undo(merge)
            let bob = Set(try await values(fixture.bob))
            #expect(bob.contains("bob@f.example"))
            // The merge was the survivor's.
            #expect(bob.isDisjoint(with: ["ada@a.example", "one person", "case 7", "case 8"]))
            _ = try await fixture.merge()
            var story = fixture.story()
            try await story.erase(fixture.ada.account)
            try await fixture.database.fold()
            try await fixture.database.destroy()
            #expect(try await values(fixture.bob) == [])
            await reads.close()
        }
    }

    @Test func `an incomplete history has no timeline`() async throws {
        try await MergeFixture.with { fixture in
            _ = try await fixture.merge()
            let bob = fixture.bob.account
            try await fixture.database.asSuperuser.execute(
                """
                ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
                ALTER EVENT TRIGGER ledger_guard_ddl DISABLE;
                ALTER TABLE events DISABLE TRIGGER USER;
                DELETE FROM events WHERE account_id = '\(bob)' AND account_seq = 1
                """)
            let reads = HistoryReads(url: fixture.database.runtimeURL, keyring: nil)
            await #expect(throws: HistoryFault.self) {
                try await reads.timeline(
                    of: fixture.ada.account, after: nil, asOf: nil, limit: 100,
                    isDisclosing: false, in: .default)
            }
            await reads.close()
        }
    }
}
