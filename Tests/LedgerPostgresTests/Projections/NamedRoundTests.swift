import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// Rounds of tenants that a process names, which read no checkpoint before they lock it.
@Suite struct NamedRoundTests {
    private static let acme = tenant("acme")

    @Test func `a named tenant is folded from its checkpoint, whatever position is named`()
        async throws
    {
        try await Self.fold { folder, fixture, database in
            var story = Story(fixture.sequencer)
            _ = try await folder.round()
            var expected: [String] = []
            // The checkpoint, a position before it, and one after it: another process has appended events before.
            for (name, offset) in [("ada", Int64(0)), ("bob", -1), ("eve", 2)] {
                let checkpoint = try await Self.heads(in: database)[.default] ?? LogPosition(0)
                _ = try await story.signIn("apple", name)
                let named = NewEvents(
                    tenant: .default, from: LogPosition(checkpoint.value + offset))
                let round = try await folder.round(of: [named])
                #expect(round.hasFolded && !round.hasFullPage && !round.hasFaults)
                #expect(round.contended.isEmpty)
                expected.append("apple|\(name)|-")
                #expect(try await database.userProviders() == expected)
                #expect(try await Self.lags(in: database) == [.default: [0]])
                let again = try await folder.round(of: [named])
                #expect(!again.hasFolded && !again.hasFullPage, "it was folded before")
                #expect(again.contended.isEmpty)
            }
        }
    }

    @Test func `a round of one tenant leaves others, and a look creates checkpoints`()
        async throws
    {
        try await Self.fold { folder, fixture, database in
            _ = try await folder.round()
            var story = Story(fixture.sequencer)
            _ = try await story.signIn("apple", "ada")
            try await fixture.open(Self.acme)
            let named = NewEvents(tenant: Self.acme, from: LogPosition(0))
            let round = try await folder.round(of: [named])
            #expect(!round.hasFolded)
            #expect(round.contended == [named], "it has no checkpoint")
            #expect(try await Self.lags(in: database) == [.default: [3], Self.acme: [1]])
            _ = try await folder.round()
            #expect(try await Self.lags(in: database) == [.default: [0], Self.acme: [0]])
        }
    }

    /// After a failover or a restore.
    @Test(arguments: [Int64(0), 5])
    func `no table stops at a named position that the log does not have`(
        beyond: Int64
    ) async throws {
        try await Self.fold { folder, fixture, database in
            _ = try await folder.round()
            let head = try await Self.heads(in: database)[.default] ?? LogPosition(0)
            let named = NewEvents(tenant: .default, from: LogPosition(head.value + beyond))
            let round = try await folder.round(of: [named])
            #expect(!round.hasFolded)
            #expect(round.hasFullPage, "the next round looks over all tenants")
            let status = try await database.projector().status()
            #expect(status.allSatisfy { $0.failure == nil && $0.lag == 0 })
        }
    }

    @Test func `between two looks a projector folds what commits name and nothing else`()
        async throws
    {
        try await ScratchDatabase.with { database in
            var configuration = ProjectorConfiguration()
            configuration.search = .seconds(3_600)
            let projector = Projector(
                url: database.runtimeURL, configuration: configuration,
                keyring: SequencerFixture.keyring)
            try await SequencerFixture.with(
                database,
                onCommit: { appended in
                    projector.wake(for: appended.filter { $0.tenant == .default })
                }
            ) { fixture in
                try await fixture.open(Self.acme)
                let running = Task { await projector.run() }
                let folded: [TenantID: Set<Int64>] = [.default: [0], Self.acme: [0]]
                try await eventually("the first look") {
                    try await Self.lags(in: database) == folded
                }
                var other = Story(fixture.sequencer, tenant: Self.acme, seed: 2)
                _ = try await other.signIn("apple", "ada")
                var story = Story(fixture.sequencer)
                for name in ["ada", "bob"] {
                    _ = try await story.signIn("apple", name)
                    try await eventually("the named tenant is folded") {
                        try await Self.lags(in: database)[.default] == [0]
                    }
                }
                #expect(try await Self.lags(in: database)[Self.acme] == [3])
                projector.wake()
                try await eventually("a look over all tenants") {
                    try await Self.lags(in: database) == folded
                }
                running.cancel()
                await running.value
            }
        }
    }

    /// Runs the body with a folder of every projection.
    private static func fold(
        _ body: (ProjectionFolder, SequencerFixture, ScratchDatabase) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let store = PostgresProjectionStore(
                    session: Session(url: database.runtimeURL, applicationName: "a projector"),
                    disclosures: DisclosureReader(keyring: SequencerFixture.keyring),
                    recent: RecentEvents())
                let folder = ProjectionFolder(
                    store: store, batch: 1_000, onAdvance: { _ in },
                    onFault: { Issue.record("\($0)") })
                try await body(folder, fixture, database)
                await store.close()
            }
        }
    }

    /// Returns the ends of the logs.
    private static func heads(
        in database: ScratchDatabase
    ) async throws -> [TenantID: LogPosition] {
        let status = try await database.projector().status()
        return Dictionary(grouping: status, by: \.tenant).compactMapValues { $0.first?.head }
    }

    /// Returns how many events the tables of each tenant lack.
    private static func lags(in database: ScratchDatabase) async throws -> [TenantID: Set<Int64>] {
        let status = try await database.projector().status()
        return Dictionary(grouping: status, by: \.tenant).mapValues { Set($0.map(\.lag)) }
    }
}
