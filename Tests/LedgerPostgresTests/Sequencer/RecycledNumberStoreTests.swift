import Ledger
import LedgerAudit
import LedgerTestSupport
import Testing

/// The last uses of phone numbers, by the times in the database.
@Suite struct RecycledNumberStoreTests {
    private static let policy: TenantPolicy = {
        var policy = SequencerFixture.unlimitedPolicy
        policy.providers[RandomCommands.phone] = ProviderPin(type: .phone, issuers: [])
        policy.providers[RandomCommands.email] = ProviderPin(type: .email, issuers: [])
        policy.providers[RandomCommands.password] = ProviderPin(type: .password, issuers: [])
        policy.confirmLater = true
        return policy
    }()

    /// Calls a body with a ledger whose rows a test can change, since only triggers protect them: its log needs no MACs.
    private func with(
        _ body: @Sendable (ScratchDatabase, SequencerFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with(owner: .plain) { database in
            try await SequencerFixture.with(database, policy: Self.policy) {
                try await body(database, $0)
            }
        }
    }

    /// Moves what happened before a position some days into the past, or back by a negative number.
    private func age(
        _ database: ScratchDatabase, days: Int, before position: LogPosition
    ) async throws {
        try await database.asSuperuser.execute(
            """
            ALTER TABLE events DISABLE TRIGGER USER;
            UPDATE events SET recorded_at = recorded_at - interval '\(days * 24) hours'
                WHERE position < \(position);
            UPDATE identities SET mac = NULL, linked_at = linked_at - interval '\(days * 24) hours'
                WHERE linked_position < \(position);
            UPDATE sessions SET mac = NULL, opened_at = opened_at - interval '\(days * 24) hours',
                refresh_exchanged_at = refresh_exchanged_at - interval '\(days * 24) hours'
                WHERE opened_position < \(position)
            """)
    }

    private func code(_ generator: inout SeededGenerator) -> Proof {
        numberProof("+4915123456789", new: generator.id())
    }

    private func signIn(
        _ fixture: SequencerFixture, _ generator: inout SeededGenerator
    ) async throws -> Result<Reply, Refusal> {
        let proof = code(&generator)
        return try await fixture.submit(.signIn(SignIn(proof, &generator)))
    }

    private func caller(_ result: Result<Reply, Refusal>) throws -> Caller {
        guard case .success(.signedIn(let grant, _)) = result else {
            throw ModelLedger.Unexpected(result: result)
        }
        return Caller(account: grant.account, session: grant.session)
    }

    private func end(of fixture: SequencerFixture) async throws -> LogPosition {
        LogPosition(Int64(try await fixture.log().count))
    }

    @Test func `a number is used by sessions and their refreshes, and goes to a new account then`()
        async throws
    {
        try await with { database, fixture in
            var generator = SeededGenerator(seed: 1)
            let proof = code(&generator)
            let opening = SignIn(proof, &generator)
            let ada = try caller(try await fixture.submit(.signIn(opening)))
            // Later sessions do not hide the refresh of an earlier one.
            for _ in 0..<21 { _ = try await signIn(fixture, &generator).get() }
            try await age(database, days: 181, before: end(of: fixture))
            let refresh = RefreshSession(
                session: ada.session, presented: opening.refreshToken,
                successor: digest(generator.bytes(32)), sealedSuccessor: [1])
            _ = try await fixture.submit(.refreshSession(refresh)).get()
            #expect(try caller(try await signIn(fixture, &generator)).account == ada.account)
            try await age(database, days: 179, before: end(of: fixture))
            #expect(try caller(try await signIn(fixture, &generator)).account == ada.account)
            try await age(database, days: 181, before: end(of: fixture))
            let next = try caller(try await signIn(fixture, &generator))
            #expect(next.account != ada.account)
            let holders = try await database.asSuperuser.texts(
                "SELECT account_id::text FROM addresses")
            #expect(holders == ["\(next.account)"])
        }
    }

    @Test func `an account that has lost its number links another one`() async throws {
        try await with { database, fixture in
            var generator = SeededGenerator(seed: 3)
            let ada = try caller(try await signIn(fixture, &generator))
            func other() -> Proof { numberProof("+4915123456780", new: generator.id()) }
            func link() async throws -> Result<Reply, Refusal> {
                try await fixture.submit(
                    .linkProvider(
                        LinkProvider(
                            caller: ada,
                            credential: Credential(
                                provider: RandomCommands.phone,
                                digest: digest(generator.bytes(32)), check: .success(other())),
                            idempotency: nil, newIdentity: generator.id())))
            }
            #expect(try await link() == .failure(.providerConflict(.providerTaken)))
            try await age(database, days: 181, before: end(of: fixture))
            #expect(try caller(try await signIn(fixture, &generator)).account != ada.account)
            #expect(try await link() == .success(.linked([RandomCommands.phone])))
            let proof = other()
            let again = try await fixture.submit(.signIn(SignIn(proof, &generator)))
            #expect(try caller(again).account == ada.account)
        }
    }

    @Test func `a lost number is no other way of an account whose claim is proved`() async throws {
        try await with { database, fixture in
            var generator = SeededGenerator(seed: 5)
            let former = try caller(try await signIn(fixture, &generator))
            try await age(database, days: 181, before: end(of: fixture))
            #expect(try caller(try await signIn(fixture, &generator)).account != former.account)
            let claim = passwordProof(
                "ada@example.com", new: generator.id(), hash: "hash", isClaim: true)
            try await link(former, claim, fixture, &generator)
            let code = SignIn(address: "ada@example.com", &generator)
            let ada = try caller(try await fixture.submit(.signIn(code)))
            #expect(ada.account == former.account)
        }
    }

    private func link(
        _ caller: Caller, _ proof: Proof, _ fixture: SequencerFixture,
        _ generator: inout SeededGenerator
    ) async throws {
        let link = LinkProvider(
            caller: caller,
            credential: Credential(
                provider: proof.subject.provider, digest: digest(generator.bytes(32)),
                check: .success(proof)),
            idempotency: nil, newIdentity: generator.id())
        _ = try await fixture.submit(.linkProvider(link)).get()
    }

    private func unlinkGoogle(
        _ caller: Caller, _ fixture: SequencerFixture
    ) async throws -> Result<Reply, Refusal> {
        try await fixture.submit(
            .unlinkProvider(
                UnlinkProvider(
                    caller: caller, provider: provider("google"), identity: nil,
                    idempotency: nil)))
    }

    @Test func `an account keeps its other way while its number is unused or lost`() async throws {
        try await with { database, fixture in
            var generator = SeededGenerator(seed: 4)
            let ada = try await fixture.signIn(subject("google", "ada"))
            try await link(ada, code(&generator), fixture, &generator)
            let other = numberProof("+4915123456780", new: generator.id())
            let bob = try caller(try await fixture.submit(.signIn(SignIn(other, &generator))))
            let linked = try await end(of: fixture)
            try await age(database, days: 181, before: linked)
            #expect(try await unlinkGoogle(ada, fixture) == .failure(.onlyProvider))
            let again = numberProof("+4915123456780", new: generator.id())
            let next = try caller(try await fixture.submit(.signIn(SignIn(again, &generator))))
            #expect(next.account != bob.account)
            try await link(bob, proof(subject("google", "bob")), fixture, &generator)
            #expect(try await unlinkGoogle(bob, fixture) == .failure(.onlyProvider))
            try await age(database, days: -2, before: linked)
            #expect(
                try await unlinkGoogle(ada, fixture) == .success(.unlinked([RandomCommands.phone])))
        }
    }

    @Test func `an unused number that is confirmed again has another row`() async throws {
        try await with { database, fixture in
            var generator = SeededGenerator(seed: 2)
            var confirmed = LogPosition(0)
            for days in [0, 181] {
                let first = try await end(of: fixture)
                try await age(database, days: days, before: first)
                let ada = try await fixture.signIn(subject("google", "ada"))
                if days > 0 {
                    #expect(try await signIn(fixture, &generator) == .failure(.addressUnused))
                }
                confirmed = try await end(of: fixture)
                let link = LinkProvider(
                    caller: ada,
                    credential: Credential(
                        provider: RandomCommands.phone, digest: digest(generator.bytes(32)),
                        check: .success(code(&generator))),
                    idempotency: nil, newIdentity: generator.id())
                _ = try await fixture.submit(.linkProvider(link)).get()
                #expect(try caller(try await signIn(fixture, &generator)).account == ada.account)
                try await age(database, days: -days, before: first)
            }
            let positions = try await database.asSuperuser.texts(
                "SELECT position::text FROM addresses")
            #expect(positions == ["\(confirmed)"])
            let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds, "\(report.findings)")
        }
    }
}
