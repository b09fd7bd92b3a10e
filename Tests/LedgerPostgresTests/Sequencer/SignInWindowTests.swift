import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// The counts of a sign-in budget when several tenants share a batch.
@Suite struct SignInWindowTests {
    @Test func `tenants of one batch count sign-ins in their own windows`() async throws {
        let narrow = tenant("narrow")
        let wide = tenant("wide")
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                try await fixture.open(narrow)
                try await fixture.open(wide)
                _ = try await fixture.sequencer.submit(signIn(in: narrow, seed: 1))

                let sequencer = Sequencer(
                    configuration: SequencerConfiguration(url: database.runtimeURL),
                    policy: { tenant in
                        var policy = SequencerFixture.unlimitedPolicy
                        // A window of length 0 never counts a sign-in.
                        policy.signInBudget = Budget(
                            limit: 1, windowSeconds: tenant == narrow ? 0 : 3600)
                        return policy
                    },
                    keyring: SequencerFixture.keyring, onCommit: { _ in }, onFault: { _ in })
                async let first = sequencer.submit(signIn(in: narrow, seed: 2))
                async let second = sequencer.submit(signIn(in: wide, seed: 3))
                let deadline = ContinuousClock.now + .seconds(120)
                while sequencer.statistics.queueDepth < 2, ContinuousClock.now < deadline {
                    await Task.yield()
                }
                try #require(sequencer.statistics.queueDepth == 2, "both wait for one batch")
                sequencer.close()
                await sequencer.run()
                let results = try await [first, second]
                for result in results {
                    guard case .success(.signedIn) = result else {
                        Issue.record("a sign-in was answered \(result)")
                        continue
                    }
                }
                #expect(sequencer.statistics.batches == 1)
            }
        }
    }

    private func signIn(in tenant: TenantID, seed: UInt64) -> Command {
        var generator = SeededGenerator(seed: seed)
        let intent = SignIn(
            proof(subject("google", "ada"), authenticatedAt: Timestamp(seconds: 1_000_000_000)),
            createAccount: true, refreshToken: digest(generator.bytes(32)),
            newAccount: generator.id(), newIdentity: generator.id(), newSession: generator.id())
        return Command(
            id: generator.id(), tenant: tenant,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
            intent: .signIn(intent))
    }
}
