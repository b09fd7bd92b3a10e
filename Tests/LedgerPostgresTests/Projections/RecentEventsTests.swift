import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

@Suite struct `Recent events` {
    private static let tenant = TenantID.default

    private static func event(at position: Int64) -> DisclosedEvent {
        DisclosedEvent(
            recorded: RecordedEvent(
                tenant: tenant, position: LogPosition(position), id: EventID(bits: 1),
                recordedAt: Timestamp(seconds: 0), actor: .system, command: CommandID(bits: 2),
                request: nil, accounts: [], disclosureDigests: [],
                event: .ledgerOpened(
                    LedgerOpened(mode: .development, encryptionKey: "k", tokenKey: "t"))),
            disclosed: DisclosedValues())
    }

    private static func positions(_ page: LogPage?) -> [Int64]? {
        page?.events.map { $0.position.value }
    }

    @Test func `are returned from any kept position`() {
        let recent = RecentEvents()
        #expect(recent.page(of: Self.tenant, from: LogPosition(0), limit: 9) == nil)
        recent.add((5..<8).map(Self.event), of: Self.tenant)
        recent.add((8..<10).map(Self.event), of: Self.tenant)
        func page(_ from: Int64, _ limit: Int) -> [Int64]? {
            Self.positions(recent.page(of: Self.tenant, from: LogPosition(from), limit: limit))
        }
        #expect(page(5, 9) == [5, 6, 7, 8, 9])
        #expect(page(7, 2) == [7, 8])
        #expect(page(4, 9) == nil)
        #expect(page(10, 9) == nil)
        #expect(
            recent.page(of: TenantID("other") ?? .default, from: LogPosition(5), limit: 9) == nil)
    }

    @Test func `start again after a gap, which another process filled`() {
        let recent = RecentEvents()
        recent.add([Self.event(at: 0), Self.event(at: 1)], of: Self.tenant)
        recent.add([Self.event(at: 3)], of: Self.tenant)
        #expect(recent.page(of: Self.tenant, from: LogPosition(1), limit: 9) == nil)
        #expect(
            Self.positions(recent.page(of: Self.tenant, from: LogPosition(3), limit: 9)) == [3])
    }

    @Test func `are bounded over all tenants`() {
        let recent = RecentEvents(countMax: 10)
        for position in 0..<100 {
            recent.add([Self.event(at: Int64(position))], of: Self.tenant)
            let kept = recent.page(
                of: Self.tenant, from: LogPosition(Int64(max(0, position - 4))), limit: 100)
            #expect(Self.positions(kept)?.last == Int64(position))
        }
        #expect(recent.page(of: Self.tenant, from: LogPosition(80), limit: 1) == nil)
        for name in ["a", "b", "c"] {
            let tenant = TenantID(name) ?? .default
            recent.add((0..<9).map { Self.event(at: $0) }, of: tenant)
            #expect(recent.page(of: tenant, from: LogPosition(0), limit: 9)?.events.count == 9)
        }
        #expect(recent.page(of: TenantID("a") ?? .default, from: LogPosition(0), limit: 9) == nil)
    }

    /// After a failover or a restore, the log may end before the kept events.
    @Test func `are dropped when the projector has a new connection`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                let recent = RecentEvents()
                recent.add((0..<50).map(Self.event), of: Self.tenant)
                let projector = Projector(
                    url: database.runtimeURL,
                    keyring: SequencerFixture.keyring, recent: recent)
                let running = Task { await projector.run() }
                try await eventually("every projection has folded everything or stopped") {
                    try await projector.status().allSatisfy { $0.lag == 0 || $0.failure != nil }
                }
                running.cancel()
                await running.value
                #expect(try await database.userProviders() == ["apple|ada|-"])
            }
        }
    }

    @Test func `match the log, event by event`() async throws {
        try await ScratchDatabase.with { database in
            let appended = RecentEvents()
            let sequencer = Sequencer(
                configuration: SequencerConfiguration(url: database.runtimeURL),
                policy: { _ in SequencerFixture.unlimitedPolicy },
                keyring: SequencerFixture.keyring,
                onCommit: { for events in $0 { appended.add(events) } },
                onFault: { Issue.record("\($0)") })
            let running = Task { await sequencer.run() }
            var commands = RandomCommands(seed: 20_261_126)
            let fact = LedgerOpened(mode: .development, encryptionKey: "test", tokenKey: "test")
            _ = try await sequencer.submit(
                Command(
                    id: CommandID(bits: 1), tenant: .default,
                    origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                    intent: .openLedger(OpenLedger(fact))))
            for _ in 0..<120 {
                commands.learn(try await sequencer.submit(commands.next()))
            }
            sequencer.close()
            await running.value

            let recent = try #require(
                appended.page(of: .default, from: LogPosition(0), limit: 4_000)
            ).events
            let session = Session(url: database.superuserURL, applicationName: "a test")
            let page = try await session.run { connection in
                try LogPage.read(
                    from: LogPosition(0), in: .default, limit: 4_000,
                    disclosures: DisclosureReader(keyring: SequencerFixture.keyring),
                    on: connection)
            }
            #expect(page.damage == nil)
            #expect(page.events.count > 20)
            #expect(recent.map(\.recorded) == page.events.map(\.recorded))
            #expect(recent.map(\.disclosed) == page.events.map(\.disclosed))
        }
    }
}
