import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

@Suite struct `Account reads` {
    @Test func `identities are in the order of their links, whatever the order of their ids`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.org")
                _ = try await story.link(ada, "google", "ada").get()
                _ = try await story.link(ada, "facebook", "ada").get()
                _ = try await story.unlink(ada, "google").get()
                _ = try await story.link(ada, "google", "ada", email: "ada@example.net").get()
                try await database.fold()
                let identities = try await Self.read(database) { reads in
                    try await reads.identities(of: ada.caller, in: .default).get()
                }
                #expect(
                    identities.map(\.provider.description) == ["apple", "facebook", "google"])
                #expect(
                    identities.map(\.email?.address) == ["ada@example.org", nil, "ada@example.net"])
            }
        }
    }

    @Test func `reads of several tenants are one query, and each gets its own rows`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let other = try #require(TenantID("other"))
                try await fixture.open(other)
                var here = Story(fixture.sequencer)
                var there = Story(fixture.sequencer, tenant: other, seed: 2)
                let ada = try await here.signIn("apple", "ada")
                let bob = try await there.signIn("google", "bob")
                let eve = try await there.signIn("facebook", "eve")
                try await there.signOut(eve)
                try await database.fold()
                try await Self.read(database) { reads in
                    async let first = reads.identities(of: ada.caller, in: .default)
                    async let second = reads.identities(of: bob.caller, in: other)
                    async let third = reads.identities(of: eve.caller, in: other)
                    async let fourth = reads.identities(of: ada.caller, in: other)
                    let answers = try await [first, second, third, fourth].map { answer in
                        answer.map { $0.map(\.provider.description) }
                    }
                    #expect(answers[0] == .success(["apple"]))
                    #expect(answers[1] == .success(["google"]))
                    #expect(answers[2] == .failure(.sessionEnded))
                    #expect(answers[3] == .failure(.sessionEnded))
                }
            }
        }
    }

    /// Nor for the next look over all tenants, on Citus, even if the tenant has no checkpoint yet.
    @Test(arguments: [Duration.zero, .seconds(3_600)])
    func `a read of a lagging account does not wait for the projector's pause`(
        search: Duration
    ) async throws {
        try await withRestingProjector(search: search) { _, reads, _, fixture in
            var story = Story(fixture.sequencer)
            for name in ["ada", "bob", "eve"] {
                let guest = try await story.signIn("apple", name)
                let identities = try await reads.identities(of: guest.caller, in: .default)
                #expect(try identities.get().count == 1)
            }
            let acme = tenant("acme")
            try await fixture.open(acme)
            var other = Story(fixture.sequencer, tenant: acme, seed: 2)
            let guest = try await other.signIn("apple", "ada")
            let identities = try await reads.identities(of: guest.caller, in: acme)
            #expect(try identities.get().count == 1)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(3_600)])
    func `nor for the pause after another process has had the tables`(
        search: Duration
    ) async throws {
        try await withRestingProjector(search: search) { database, reads, behind, fixture in
            var story = Story(fixture.sequencer)
            let locker = try Connection(url: database.runtimeURL, applicationName: "test")
            let ada = try await story.signIn("apple", "ada").caller
            #expect(try await reads.identities(of: ada, in: .default).get().count == 1)
            try locker.execute(
                "BEGIN; SELECT FROM projections WHERE tenant_id = 'default' FOR UPDATE")
            let bob = try await story.signIn("apple", "bob").caller
            let before = behind.count
            async let identities = reads.identities(of: bob, in: .default)
            // It wakes the projector each time, which finds the tables locked.
            try await eventually("the read is behind") { behind.count >= before + 8 }
            try locker.execute("COMMIT")
            locker.close()
            #expect(try await identities.get().count == 1)
        }
    }

    /// Runs a body beside a projector that rests for a minute after each round, with a signal of each time that a read
    /// finds it behind.
    private func withRestingProjector(
        search: Duration,
        _ body:
            @Sendable (ScratchDatabase, AccountReads, AdvanceSignal, SequencerFixture)
            async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let (advances, behind) = (AdvanceSignal(), AdvanceSignal())
                var configuration = ProjectorConfiguration()
                configuration.pause = .seconds(60)
                configuration.search = search
                let projector = Projector(
                    url: database.runtimeURL, configuration: configuration,
                    keyring: SequencerFixture.keyring,
                    onAdvance: { _ in advances.raise() })
                let projecting = Task { await projector.run() }
                try await eventually("the projector rests") {
                    try await projector.status().allSatisfy { $0.lag == 0 }
                }
                let wake: @Sendable (TenantID, LogPosition?) -> Void = { tenant, checkpoint in
                    behind.raise()
                    projector.wakeUrgently(for: tenant, from: checkpoint)
                }
                try await Self.read(database, advances: advances, onBehind: wake) { reads in
                    try await body(database, reads, behind, fixture)
                }
                projecting.cancel()
                await projecting.value
            }
        }
    }

    /// Runs a reader while the body runs.
    static func read<Value: Sendable>(
        _ database: ScratchDatabase, advances: AdvanceSignal = AdvanceSignal(),
        onBehind: @escaping @Sendable (TenantID, LogPosition?) -> Void = { _, _ in },
        _ body: (AccountReads) async throws -> Value
    ) async throws -> Value {
        let reads = AccountReads(
            url: database.runtimeURL, advances: advances, onBehind: onBehind, onFault: { _ in })
        let reading = Task { await reads.run() }
        do {
            let value = try await body(reads)
            reads.close()
            await reading.value
            return value
        } catch {
            reads.close()
            await reading.value
            throw error
        }
    }
}
