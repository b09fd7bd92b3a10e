import Ledger
import LedgerPostgres
import LedgerTestSupport
import Testing

struct EventReadsTests {
    private func reads(_ database: ScratchDatabase) -> EventReads {
        EventReads(url: database.runtimeURL, keyring: SequencerFixture.keyring) { _ in }
    }

    private func positions(
        _ reads: EventReads, _ change: (inout EventQuery) -> Void
    ) async throws -> [Int64] {
        var query = EventQuery(limit: 100)
        change(&query)
        let page = try await reads.events(
            matching: query, in: .default, isDisclosing: false)
        #expect(!page.hasMore || query.limit < 100)
        return page.elements.map(\.position.value)
    }

    @Test func `each filter gives what the entries say`() async throws {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            let all = try await reads.events(
                matching: EventQuery(limit: 100), in: .default, isDisclosing: false)
            #expect(all.elements.map(\.position.value) == Array(0..<HistoryFixture.count))
            #expect(all.cursor == HistoryFixture.count - 1 && !all.hasMore)
            #expect(all.elements.allSatisfy { $0.recorded != nil && $0.disclosures == nil })
            #expect(
                try await positions(reads) { $0.account = fixture.ada.account } == [
                    1, 2, 3, 4, 8, 9, 10,
                ])
            #expect(
                try await positions(reads) { $0.account = fixture.bob.account } == [5, 6, 7, 8, 11])
            #expect(try await positions(reads) { $0.account = AccountID(bits: 1) } == [])
            #expect(try await positions(reads) { $0.outcome = .refused } == [8])
            #expect(try await positions(reads) { $0.type = .signedIn } == [3, 7, 11])
            #expect(
                try await positions(reads) {
                    $0.type = .providerLinked
                    $0.provider = provider("google")
                } == [4, 6])
            #expect(try await positions(reads) { $0.after = LogPosition(9) } == [10, 11])
            #expect(
                try await positions(reads) {
                    $0.from = .position(LogPosition(3))
                    $0.through = .position(LogPosition(5))
                } == [3, 4, 5])
            for event in all.elements {
                let time = try #require(event.recorded?.recordedAt)
                let from = try await positions(reads) { $0.from = .time(time) }
                let through = try await positions(reads) { $0.through = .time(time) }
                let times = all.elements.compactMap(\.recorded?.recordedAt)
                #expect(from == times.indices.filter { times[$0] >= time }.map(Int64.init))
                #expect(through == times.indices.filter { times[$0] <= time }.map(Int64.init))
            }
            let other = try await reads.events(
                matching: EventQuery(limit: 100), in: tenant("acme"), isDisclosing: false)
            #expect(other.elements.isEmpty && other.cursor == nil && !other.hasMore)
        }
    }

    @Test func `personal data is there when it is asked for`() async throws {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            let page = try await reads.events(
                matching: EventQuery(limit: 100), in: .default, isDisclosing: true)
            let linked = page.elements[2]
            #expect(
                page.elements[3].disclosures?.first { $0.name == .email }?.value
                    == "ada@example.com")
            #expect(
                linked.disclosures?.first { $0.name == .providerID }?.value == "ada")
            #expect(page.elements[0].disclosures == [])
            let id = try #require(linked.recorded?.id)
            let one = try await reads.event(id, in: .default, isDisclosing: true)
            #expect(one == linked)
            let hidden = try await reads.event(id, in: .default, isDisclosing: false)
            #expect(hidden?.disclosures == nil && hidden?.entry == linked.entry)
            #expect(try await reads.event(id, in: tenant("acme"), isDisclosing: false) == nil)
            #expect(
                try await reads.event(EventID(bits: 1), in: .default, isDisclosing: false) == nil)
            try await fixture.damage("DELETE FROM account_keys")
            let erased = try await reads.event(id, in: .default, isDisclosing: true)
            #expect(erased?.disclosures == [] && erased?.damage == nil)
        }
    }

    @Test func `what was changed is shown as it is and said to be damaged`() async throws {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            try await fixture.damage(
                """
                UPDATE events SET entry = '\\xdeadbeef' WHERE position = 7;
                UPDATE disclosures SET ciphertext = set_byte(ciphertext, 30,
                    get_byte(ciphertext, 30) # 1) WHERE position = 2
                """)
            let page = try await reads.events(
                matching: EventQuery(limit: 100), in: .default, isDisclosing: true)
            let damaged = page.elements.filter { $0.damage != nil }
            #expect(damaged.map(\.position.value) == [2, 7])
            #expect(damaged[1].entry == [0xDE, 0xAD, 0xBE, 0xEF] && damaged[1].recorded == nil)
            #expect(damaged[0].disclosures == nil && damaged[0].recorded != nil)
        }
    }

    @Test func `a reader that goes on misses no event of two processes`() async throws {
        let lanes = 8
        let perLane = 25
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, batchLimit: 3) { one in
                try await SequencerFixture.with(database, batchLimit: 2) { two in
                    let isOver = Flag()
                    let writers = Task {
                        defer { isOver.raise() }
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for lane in 0..<lanes {
                                group.addTask {
                                    for number in 0..<perLane {
                                        _ = try await (lane % 2 == 0 ? one : two).signIn(
                                            subject("google", "s\(lane)-\(number)"))
                                    }
                                }
                            }
                            try await group.waitForAll()
                        }
                    }
                    // AccountOpened, ProviderLinked and SignedIn of each, after LedgerOpened.
                    let count = 1 + lanes * perLane * 3
                    let reads = reads(database)
                    async let followed = follow(reads, until: isOver) { _ in }
                    async let filtered = follow(reads, until: isOver) {
                        $0.type = .accountOpened
                    }
                    let (all, openings) = try await (followed, filtered)
                    try await writers.value
                    #expect(all.map(\.value) == Array(0..<Int64(count)))
                    let log = try await one.log()
                    let expected = log.filter { $0.recorded.event.name == .accountOpened }
                    #expect(openings == expected.map(\.recorded.position))
                }
            }
        }
    }

    /// Reads page after page while events are appended, until there was no more after the last.
    private func follow(
        _ reads: EventReads, until isOver: Flag, _ change: (inout EventQuery) -> Void
    ) async throws -> [LogPosition] {
        var query = EventQuery(limit: 4)
        change(&query)
        var seen: [LogPosition] = []
        try await eventually("the last event to be seen", within: .seconds(120)) {
            let wasOver = isOver.isRaised
            // Pages that are full, and pages that end where the log ends by then.
            query.limit = query.limit == 4 ? 100 : 4
            let page = try await reads.events(
                matching: query, in: .default, isDisclosing: false)
            seen += page.elements.map(\.position)
            query.after = page.cursor.map { LogPosition($0) }
            return wasOver && !page.hasMore ? true : nil
        }
        return seen
    }

    @Test func `a page looks at a bounded part of the log`() async throws {
        try await ScratchDatabase.with { database in
            let count = EventReads.windowMax + 10
            // Not entries, but what bounds the work does not look into them.
            try await database.asSuperuser.execute(
                """
                INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
                    command_id, actor, entry)
                SELECT 'default', n, gen_random_uuid(), 'SignedIn', 1, 'epoch'::timestamptz
                    + n * interval '1 s', gen_random_uuid(), 'system',
                    CASE WHEN n >= \(count - 1) THEN '"outcome":"refused"'::bytea ELSE '\\x7b7d' END
                FROM generate_series(0, \(count - 1)) AS n;
                INSERT INTO ledger_head VALUES ('default', \(count), now())
                """)
            let reads = reads(database)
            var query = EventQuery(limit: 5)
            query.outcome = .refused
            let first = try await reads.events(
                matching: query, in: .default, isDisclosing: false)
            #expect(first.elements.isEmpty && first.hasMore)
            #expect(first.cursor == EventReads.windowMax - 1)
            query.after = first.cursor.map { LogPosition($0) }
            let second = try await reads.events(
                matching: query, in: .default, isDisclosing: false)
            #expect(second.elements.map(\.position.value) == [count - 1])
            #expect(second.elements.first?.damage != nil)
            #expect(second.cursor == count - 1 && !second.hasMore)
            query.outcome = nil
            query.after = nil
            query.from = .time(Timestamp(seconds: 12_345))
            query.through = .time(Timestamp(seconds: 12_347))
            let timed = try await reads.events(
                matching: query, in: .default, isDisclosing: false)
            #expect(timed.elements.map(\.position.value) == [12_345, 12_346, 12_347])
            #expect(!timed.hasMore)
        }
    }
}
