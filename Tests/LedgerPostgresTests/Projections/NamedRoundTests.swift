import Ledger
import LedgerTestSupport
import Postgres
import Synchronization
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
                #expect(round.hasFolded && !round.needsLook && !round.hasFaults)
                #expect(round.contended.isEmpty)
                expected.append("apple|\(name)|-")
                #expect(try await database.userProviders() == expected)
                #expect(try await Self.lags(in: database) == [.default: [0]])
                let again = try await folder.round(of: [named])
                #expect(!again.hasFolded && !again.needsLook, "it was folded before")
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
            #expect(round.needsLook)
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

    @Test func `a look first folds the tenants for which requests wait`() async throws {
        let folded = Mutex<[TenantID]>([])
        try await Self.fold(
            onAdvance: { advance in folded.withLock { $0.append(advance.tenant) } }
        ) { folder, fixture, database in
            try await fixture.open(Self.acme)
            _ = try await folder.round()
            for (tenant, seed) in [(Self.acme, UInt64(2)), (TenantID.default, 3)] {
                var story = Story(fixture.sequencer, tenant: tenant, seed: seed)
                _ = try await story.signIn("apple", "ada")
            }
            folded.withLock { $0 = [] }
            var waiting = [NewEvents(tenant: .default, from: LogPosition(0))]
            _ = try await folder.round(waiting: {
                defer { waiting = [] }
                return waiting
            })
            #expect(folded.withLock { $0.first } == .default)
            #expect(folded.withLock { Set($0) } == [.default, Self.acme])
            #expect(try await Self.lags(in: database) == [.default: [0], Self.acme: [0]])
        }
    }

    @Test func `a tenant that moves to another database is not folded`() async throws {
        try await Self.fold { folder, fixture, database in
            _ = try await folder.round()
            var story = Story(fixture.sequencer)
            _ = try await story.signIn("apple", "ada")
            try await database.asSuperuser.execute(
                """
                INSERT INTO tenant_moves (tenant_id, state, peer, run)
                VALUES ('default', 'leaving', 'elsewhere', gen_random_uuid())
                """)
            let named = NewEvents(tenant: .default, from: LogPosition(0))
            let round = try await folder.round(of: [named])
            #expect(!round.hasFolded && round.contended.isEmpty)
            #expect(try await database.userProviders().isEmpty)
        }
    }

    /// A lock stands for the node.
    @Test(arguments: [ProjectionName.userProviders, .conflicts])
    func `a node that is slow with conflicts alone is not left out`(
        projection: ProjectionName
    ) async throws {
        try await Self.wait(for: "projections") { store, nodes in
            let named = NewEvents(tenant: .default, from: LogPosition(0))
            let backlog = try await store.backlogs(of: [projection], from: [named]).first
            let tables = try #require(backlog).tables.map(\.table)
            #expect(nodes.isReachable(.default))
            await #expect(throws: PostgresError.self) {
                _ = try await store.open(tables, of: .default, for: [])
            }
            #expect(nodes.isReachable(.default) == (projection == .conflicts))
        }
    }

    @Test func `a node that does not answer with a page is left out`() async throws {
        try await Self.wait(for: "events") { store, nodes in
            await #expect(throws: PostgresError.self) {
                _ = try await store.page(of: .default, from: LogPosition(0), limit: 10)
            }
            #expect(!nodes.isReachable(.default))
        }
    }

    /// Runs the body with a store that waits for a locked table for a second at most.
    private static func wait(
        for table: String, _ body: (PostgresProjectionStore, TenantNodes) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { _ in
                let nodes = TenantNodes()
                nodes.note(.default, lane: 1)
                let store = PostgresProjectionStore(
                    session: Session(
                        url: database.runtimeURL, applicationName: "a projector",
                        statementDeadline: .seconds(1)),
                    disclosures: DisclosureReader(keyring: SequencerFixture.keyring),
                    recent: RecentEvents(), nodes: nodes)
                let locker = try Connection(url: database.superuserURL, applicationName: "test")
                try locker.execute("BEGIN; LOCK TABLE \(table)")
                try await body(store, nodes)
                locker.close()
                await store.close()
            }
        }
    }

    /// Runs the body with a folder of every projection.
    private static func fold(
        onAdvance: @escaping @Sendable (ProjectionAdvance) -> Void = { _ in },
        _ body: (ProjectionFolder, SequencerFixture, ScratchDatabase) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let store = PostgresProjectionStore(
                    session: Session(url: database.runtimeURL, applicationName: "a projector"),
                    disclosures: DisclosureReader(keyring: SequencerFixture.keyring),
                    recent: RecentEvents())
                let folder = ProjectionFolder(
                    store: store, batch: 1_000, onAdvance: onAdvance,
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
