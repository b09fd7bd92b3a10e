import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// The renewal of a stored hash.
@Suite struct PasswordStoreTests {
    private static let policy = RandomCommands.policy(hasEveryType: true)

    /// Calls a body with a ledger in which a person has signed up, and the stored password.
    private func with(
        _ body:
            @Sendable (ScratchDatabase, PostgresCredentialStore, StoredPassword) async throws
            -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            var generator = SeededGenerator(seed: 1)
            let signUp = SignIn(address: "ada@example.com", password: "hash", &generator)
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                _ = try await fixture.submit(.signIn(signUp)).get()
            }
            let store = PostgresCredentialStore(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring,
                onFault: { Issue.record("\($0)") })
            let stored = try #require(try await find(signUp, store))
            try await body(database, store, stored)
            await store.close()
        }
    }

    private func find(
        _ signUp: SignIn, _ store: PostgresCredentialStore
    ) async throws -> StoredPassword? {
        try await store.password(
            of: signUp.proof.address?.names ?? [], at: signUp.proof.subject.provider, in: .default)
    }

    private func row(_ database: ScratchDatabase) async throws -> [String] {
        try await database.asSuperuser.texts("SELECT c::text FROM credentials c")
    }

    @Test func `a renewed hash has the version and a valid MAC`() async throws {
        try await with { database, store, stored in
            #expect(stored.hash == "hash")
            let before = try await row(database)
            try await store.replace(stored, by: NewPassword(hash: "renewed"), in: .default)
            #expect(try await row(database) != before)
            // The hash is another one now.
            let renewed = try await row(database)
            try await store.replace(stored, by: NewPassword(hash: "again"), in: .default)
            #expect(try await row(database) == renewed)
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let verified = try await verifier.run()
            await verifier.close()
            #expect(verified.holds, "\(verified.findings)")
        }
    }

    @Test(arguments: [
        "version = version + 1", "mac = set_byte(mac, 19, 255 - get_byte(mac, 19))",
        "wrapping_key = 'other'",
    ])
    func `a changed row is not renewed`(_ change: String) async throws {
        try await with { database, store, stored in
            try await database.asSuperuser.execute("UPDATE credentials SET \(change)")
            let before = try await row(database)
            try await store.replace(stored, by: NewPassword(hash: "renewed"), in: .default)
            #expect(try await row(database) == before)
        }
    }

    @Test(arguments: [PasswordSet.Cause.change, .reset])
    func `a new password ends the codes sent to all addresses of its account`(
        by cause: PasswordSet.Cause
    ) async throws {
        try await ScratchDatabase.with { database in
            var policy = Self.policy
            policy.reauthenticationSeconds = .max / 2_000_000
            try await SequencerFixture.with(
                database, policy: policy, isProtected: true
            ) { fixture in
                var generator = SeededGenerator(seed: 1)
                let signUp = SignIn(address: "ada@example.com", password: "hash", &generator)
                let opened = try await fixture.submit(.signIn(signUp))
                guard case .success(.signedIn(let grant, _)) = opened else {
                    throw ModelLedger.Unexpected(result: opened)
                }
                let ada = Caller(account: grant.account, session: grant.session)
                let other = addressProof("other@example.com", new: generator.id())
                let link = LinkProvider(
                    caller: ada,
                    credential: Credential(
                        provider: RandomCommands.email, digest: Digest.zero, check: .success(other)
                    ), idempotency: nil, newIdentity: generator.id())
                _ = try await fixture.submit(.linkProvider(link)).get()
                let challenge = ChallengeID(bits: 1)
                for (id, address) in [
                    (challenge, "ada"), (ChallengeID(bits: 2), "other"),
                    (ChallengeID(bits: 3), "bob"),
                ] {
                    try await database.asSuperuser.execute(
                        """
                        INSERT INTO challenges (tenant_id, challenge_id, provider, digest,
                            code_digest, key_id, sealed, wrapping_key, expires_at)
                        VALUES ('default', '\(id)', 'email', sha256('\(address)@example.com'),
                            sha256('b'), 'key', '', 'key', now() + interval '10 min')
                        """)
                }
                let new = NewPassword(hash: "new")
                switch cause {
                case .reset:
                    let proof = Proof(
                        signUp.proof.subject, authenticatedAt: signUp.proof.authenticatedAt,
                        methods: .password, email: signUp.proof.email,
                        address: signUp.proof.address, challenge: challenge)
                    _ = try await fixture.submit(
                        .resetPassword(ResetPassword(proof, password: new))
                    ).get()
                default:
                    let renewal = SessionRenewal(
                        caller: ada, password: nil, refreshToken: .zero,
                        newSession: generator.id())
                    _ = try await fixture.submit(
                        .changePassword(ChangePassword(renewal, to: new))
                    ).get()
                }
                #expect(
                    try await database.rows("challenge_id::text]) FROM challenges")
                        == ["\(ChallengeID(bits: 3))"])
            }
        }
    }
}
