import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

/// The upgrade of an anonymous account in the database: the rows of its sessions, and their MACs.
@Suite struct AnonymousUpgradeTests {
    @Test(arguments: [false, true])
    func `the session that links is kept with its MAC, and verification holds`(
        isProtected: Bool
    ) async throws {
        try await ScratchDatabase.with { database in
            let policy = RandomCommands.policy(hasEveryType: true)
            try await SequencerFixture.with(
                database, policy: policy, isProtected: isProtected
            ) { fixture in
                var generator = SeededGenerator(seed: 3)
                let caller = try await signIn(fixture, &generator)
                let other = try await signIn(fixture, &generator)
                #expect(other.account == caller.account)
                let link = LinkProvider(
                    caller: caller, credential: Credential(subject("google", "ada"), digest: .zero),
                    idempotency: nil, newIdentity: generator.id())
                let linked = try await fixture.submit(.linkProvider(link))
                #expect(linked == .success(.linked([provider("google")])))
                #expect(
                    try await database.rows(
                        """
                        session_id::text, i.provider, s.methods,
                        extract(epoch FROM authenticated_at)::bigint::text,
                        (ended_position IS NULL)::text, (s.mac IS NULL)::text])
                        FROM sessions s JOIN identities i USING (tenant_id, identity_id)
                        ORDER BY ended_position NULLS FIRST
                        """) == [
                            "\(caller.session)|google|fed|1000000000|true|false",
                            "\(other.session)|anonymous|anon|1100000000|false|true",
                        ])
                // The next command checks the MAC of the session.
                let refreshed = try await fixture.submit(
                    .signOut(SignOut(caller: caller, scope: .session)))
                #expect(throws: Never.self) { try refreshed.get() }
                #expect(fixture.reportedFaults.isEmpty)
            }
            let verifier = Verifier(
                url: database.runtimeURL,
                keyring: isProtected ? SequencerFixture.strictKeyring : SequencerFixture.keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            #expect(!report.isSearched)
        }
    }

    @Test func `an upgrade leaves no e-mail of the anonymous identity to be looked for`()
        async throws
    {
        try await ScratchDatabase.with { database in
            let policy = RandomCommands.policy(hasEveryType: true)
            try await SequencerFixture.with(database, policy: policy) { fixture in
                var generator = SeededGenerator(seed: 5)
                let caller = try await signIn(fixture, &generator)
                let link = LinkProvider(
                    caller: caller, credential: Credential(subject("google", "ada"), digest: .zero),
                    idempotency: nil, newIdentity: generator.id())
                _ = try await fixture.submit(.linkProvider(link)).get()
                #expect(
                    try await database.rows(
                        """
                        provider, coalesce(octet_length(former_email)::text, '-')])
                        FROM identities ORDER BY provider
                        """) == ["anonymous|0", "google|-"])
            }
        }
    }

    /// While the clock is behind the log's last time, all events have that time.
    @Test(arguments: [false, true])
    func `the session that is kept does not count against the new identity's sign-ins`(
        isClockBehind: Bool
    ) async throws {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.signInBudget = Budget(limit: 1, windowSeconds: 3600)
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, policy: policy) { fixture in
                if isClockBehind {
                    try await database.asSuperuser.execute(
                        """
                        UPDATE ledger_head
                        SET last_recorded_at = now() + interval '1 hour', mac = NULL
                        """)
                }
                var generator = SeededGenerator(seed: 4)
                let caller = try await signIn(fixture, &generator)
                let link = LinkProvider(
                    caller: caller, credential: Credential(subject("google", "ada"), digest: .zero),
                    idempotency: nil, newIdentity: generator.id())
                _ = try await fixture.submit(.linkProvider(link)).get()
                #expect(
                    try await fixture.signIn(subject("google", "ada")).account == caller.account)
                await #expect(throws: ModelLedger.Unexpected.self) {
                    try await fixture.signIn(subject("google", "ada"))
                }
            }
        }
    }

    /// Opens a session of the anonymous account, and at first the account.
    private func signIn(
        _ fixture: SequencerFixture, _ generator: inout SeededGenerator
    ) async throws -> Caller {
        let intent = SignIn(
            proof(
                subject("anonymous", "digest"), authenticatedAt: Timestamp(seconds: 1_100_000_000),
                methods: .anonymous), createAccount: true,
            refreshToken: digest(generator.bytes(32)), newAccount: generator.id(),
            newIdentity: generator.id(), newSession: generator.id())
        let result = try await fixture.submit(.signIn(intent))
        guard case .success(.signedIn(let grant, _)) = result else {
            throw ModelLedger.Unexpected(result: result)
        }
        return Caller(account: grant.account, session: grant.session)
    }
}
