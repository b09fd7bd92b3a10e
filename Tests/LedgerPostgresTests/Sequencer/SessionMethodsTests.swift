import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing

/// A session's methods remain with it in the log and in the database.
@Suite struct SessionMethodsTests {
    @Test func `a refresh returns the methods that the session was opened with`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                try await fixture.open(.default)
                let methods = try #require(AuthenticationMethods("otp pwd"))
                let refreshToken = digest(Array(repeating: 7, count: 32))
                var generator = SeededGenerator(seed: 7)
                let opened = try await fixture.sequencer.submit(
                    command(
                        .signIn(
                            SignIn(
                                Proof(
                                    subject("google", "ada"),
                                    authenticatedAt: Timestamp(seconds: 1_000_000_000),
                                    methods: methods, email: nil),
                                createAccount: true, refreshToken: refreshToken,
                                newAccount: generator.id(), newIdentity: generator.id(),
                                newSession: generator.id())), &generator))
                guard case .success(.signedIn(let grant, _)) = opened else {
                    throw ModelLedger.Unexpected(result: opened)
                }
                #expect(grant.methods == methods)
                let refreshed = try await fixture.sequencer.submit(
                    command(
                        .refreshSession(
                            RefreshSession(
                                session: grant.session, presented: refreshToken,
                                successor: digest(Array(repeating: 8, count: 32)),
                                sealedSuccessor: [1])), &generator))
                guard case .success(.refreshed(let later, .fresh)) = refreshed else {
                    throw ModelLedger.Unexpected(result: refreshed)
                }
                #expect(later.methods == methods)
                #expect(
                    try await database.rows("type, schema_version::text]) FROM events")
                        == [
                            "LedgerOpened|1", "AccountOpened|1", "ProviderLinked|1", "SignedIn|2",
                        ])
                #expect(try await database.rows("methods]) FROM sessions") == ["otp pwd"])
            }
        }
    }

    private func command(
        _ intent: Command.Intent, _ generator: inout SeededGenerator
    ) -> Command {
        Command(
            id: generator.id(), tenant: .default,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil), intent: intent)
    }
}
