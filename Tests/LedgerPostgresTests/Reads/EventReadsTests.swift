import Ledger
import LedgerEngine
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

    @Test func `each filter matches the entries`() async throws {
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

    @Test func `events are found by actor, identity and request`() async throws {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            let all = try await reads.events(
                matching: EventQuery(limit: 100), in: .default, isDisclosing: false
            ).elements.compactMap(\.recorded)
            #expect(try await positions(reads) { $0.actor = .system } == [0])
            #expect(try await positions(reads) { $0.request = RequestID(bits: 7) } == [])
            for recorded in all {
                if case .account(let holder, _) = recorded.actor {
                    let text = recorded.actor.columnText
                    let own = try await positions(reads) { $0.actor = .account(holder) }
                    #expect(own == Self.positions(all) { $0.actor.columnText == text })
                    let none = try await positions(reads) {
                        $0.actor = .principal(.apiKey, EntityID(bits: holder.bits))
                    }
                    #expect(none == [])
                }
                if let identity = recorded.event.fact.attributes.identity {
                    let named = try await positions(reads) { $0.identity = identity }
                    #expect(named.contains(recorded.position.value))
                    #expect(
                        named
                            == Self.positions(all) {
                                String(decoding: EntryEncoding.encode($0), as: UTF8.self)
                                    .contains("\(identity)")
                            })
                }
            }
        }
    }

    private static func positions(
        _ log: [RecordedEvent], _ isWanted: (RecordedEvent) -> Bool
    ) -> [Int64] {
        log.filter(isWanted).map(\.position.value)
    }

    @Test func `personal data is included on request`() async throws {
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

    @Test func `a changed event is shown as it is and reported as damaged`() async throws {
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

    @Test func `every event is found by its id, through the time in it`() async throws {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            let all = try await reads.events(
                matching: EventQuery(limit: 100), in: .default, isDisclosing: false)
            for event in all.elements {
                let recorded = try #require(event.recorded)
                #expect(
                    recorded.id.isUUIDv7
                        && recorded.id.madeAt.microseconds / 1_000
                            == recorded.recordedAt.microseconds / 1_000
                )
                let found = try await reads.event(recorded.id, in: .default, isDisclosing: false)
                #expect(found == event)
            }
            // Where the column of times differs, the id is still found.
            try await fixture.damage("UPDATE events SET recorded_at = 'epoch'")
            for event in all.elements {
                let id = try #require(event.recorded?.id)
                #expect(try await reads.event(id, in: .default, isDisclosing: false) == event)
            }
        }
    }

    @Test func `an event by its id needs no index and no statistics`() async throws {
        try await ScratchDatabase.with(owner: .plain) { database in
            let count = 50_000
            try await database.asSuperuser.execute(
                """
                ALTER TABLE events SET (autovacuum_enabled = off);
                -- Summarising reads the table, and is counted with the rest.
                ALTER INDEX events_by_id SET (autosummarize = off);
                INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
                    command_id, actor, entry, mac)
                SELECT 'default', n, (lpad(to_hex(n), 12, '0') || '7000' || repeat('8', 16))::uuid,
                    'SignedIn', 1, 'epoch'::timestamptz + n * interval '1 ms', gen_random_uuid(),
                    'system', '\\x7b7d', decode(repeat('00', 20), 'hex')
                FROM generate_series(0, \(count - 1)) AS n;
                INSERT INTO ledger_head VALUES ('default', \(count), now())
                """)
            let reads = reads(database)
            let before = try await rowsRead(of: database)
            let id = EventID(bits: UInt128(count / 2) << 80 | 0x7000_8888_8888_8888_8888)
            let event = try await reads.event(id, in: .default, isDisclosing: false)
            #expect(event?.position.value == Int64(count / 2))
            #expect(event?.damage != nil, "its bytes are no entry")
            await reads.close()
            try await eventually("the reader's statistics to be there") {
                let read = try await rowsRead(of: database) - before
                #expect(read < 200, "\(read) rows were read")
                return read > 0
            }
        }
    }

    private func rowsRead(of database: ScratchDatabase) async throws -> Int {
        let text = try await database.asSuperuser.texts(
            """
            SELECT (seq_tup_read + idx_tup_fetch)::text FROM pg_stat_user_tables
            WHERE relname = 'events'
            """)
        return text.first.flatMap { Int($0) } ?? 0
    }

    @Test func `another event under the requested id is reported`() async throws {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            let all = try await reads.events(
                matching: EventQuery(limit: 100), in: .default, isDisclosing: false)
            let (asked, other) = (all.elements[2], all.elements[6])
            let id = try #require(asked.recorded?.id)
            // Bob's event has Ada's id, first in addition and then instead.
            try await fixture.damage(
                "UPDATE events SET event_id = '\(id)', recorded_at = (SELECT recorded_at FROM events"
                    + " WHERE position = 2) WHERE position = 6")
            let right = try await reads.event(id, in: .default, isDisclosing: false)
            #expect(right == asked)
            try await fixture.damage(
                "UPDATE events SET event_id = gen_random_uuid() WHERE position = 2")
            let wrong = try #require(await reads.event(id, in: .default, isDisclosing: true))
            #expect(wrong.position == other.position && wrong.recorded == other.recorded)
            #expect(wrong.damage?.contains("event \(other.recorded?.id.description ?? "")") == true)
            #expect(wrong.disclosures == nil)
        }
    }

    @Test func `of one account's events only its own data is disclosed`() async throws {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            var query = EventQuery(limit: 100)
            query.account = fixture.ada.account
            let page = try await reads.events(
                matching: query, in: .default, isDisclosing: true)
            let met = try #require(page.elements.first { $0.position.value == 8 })
            #expect(met.recorded?.accounts.map(\.id) == [fixture.bob.account, fixture.ada.account])
            #expect(met.disclosures == [])
            #expect(page.elements.first { $0.position.value == 3 }?.disclosures?.isEmpty == false)
            query.account = fixture.bob.account
            let his = try await reads.events(
                matching: query, in: .default, isDisclosing: true)
            #expect(his.elements.first { $0.position.value == 8 }?.disclosures?.isEmpty == false)
            query.account = nil
            let everybody = try await reads.events(
                matching: query, in: .default, isDisclosing: true)
            #expect(everybody.elements[8].disclosures?.isEmpty == false)
        }
    }

    @Test func `a continuing reader misses no event of two processes`() async throws {
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

    @Test func `newest first, pages lead back to the first event, and new ones change none`()
        async throws
    {
        try await HistoryFixture.with { fixture in
            let reads = reads(fixture.database)
            for limit in [1, 2, 5, 100] {
                for type in [nil, Event.Name.signedIn] {
                    var query = EventQuery(limit: limit)
                    query.order = .newest
                    query.type = type
                    var seen: [Int64] = []
                    var page: CursorPage<ShownEvent>
                    repeat {
                        page = try await reads.events(
                            matching: query, in: .default, isDisclosing: false)
                        seen += page.elements.map(\.position.value)
                        query.after = page.cursor.map { LogPosition($0) }
                    } while page.hasMore
                    let all = try await positions(reads) { $0.type = type }
                    #expect(seen == all.reversed(), "\(limit)")
                }
            }
            var query = EventQuery(limit: 100)
            query.order = .newest
            query.from = .position(LogPosition(3))
            query.through = .position(LogPosition(5))
            let part = try await reads.events(matching: query, in: .default, isDisclosing: true)
            #expect(part.elements.map(\.position.value) == [5, 4, 3] && !part.hasMore)
            #expect(part.elements.last?.disclosures?.isEmpty == false)
            query.after = LogPosition(3)
            let none = try await reads.events(matching: query, in: .default, isDisclosing: false)
            #expect(none.elements.isEmpty && none.cursor == 3 && !none.hasMore)
            let empty = try await reads.events(
                matching: query, in: tenant("acme"), isDisclosing: false)
            #expect(empty.elements.isEmpty && !empty.hasMore)
        }
    }

    /// Reads page after page while events are appended, until none follow the last one.
    private func follow(
        _ reads: EventReads, until isOver: Flag, _ change: (inout EventQuery) -> Void
    ) async throws -> [LogPosition] {
        var query = EventQuery(limit: 4)
        change(&query)
        var seen: [LogPosition] = []
        try await eventually("the last event to be seen", within: .seconds(120)) {
            let wasOver = isOver.isRaised
            // Full pages, and pages that end at the log's current end.
            query.limit = query.limit == 4 ? 100 : 4
            let page = try await reads.events(
                matching: query, in: .default, isDisclosing: false)
            seen += page.elements.map(\.position)
            query.after = page.cursor.map { LogPosition($0) }
            return wasOver && !page.hasMore ? true : nil
        }
        return seen
    }

    @Test func `a page scans a bounded part of the log`() async throws {
        try await ScratchDatabase.with { database in
            let count = EventReads.windowMax + 10
            // Not entries, but the bound does not depend on their content.
            try await database.asSuperuser.execute(
                """
                INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
                    command_id, actor, entry, mac)
                SELECT 'default', n, gen_random_uuid(), 'SignedIn', 1, 'epoch'::timestamptz
                    + n * interval '1 s', gen_random_uuid(), 'system',
                    CASE WHEN n >= \(count - 1) THEN '"outcome":"refused"'::bytea ELSE '\\x7b7d' END,
                    decode(repeat('00', 20), 'hex')
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
            query.order = .newest
            query.after = nil
            query.outcome = .accepted
            let back = try await reads.events(matching: query, in: .default, isDisclosing: false)
            #expect(back.elements.isEmpty && back.cursor == 10 && back.hasMore)
            query.after = LogPosition(10)
            let start = try await reads.events(matching: query, in: .default, isDisclosing: false)
            #expect(start.elements.isEmpty && start.cursor == 0 && !start.hasMore)
            query.order = .oldest
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
