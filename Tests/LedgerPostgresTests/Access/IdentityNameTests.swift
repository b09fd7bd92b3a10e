import Dispatch
import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// The names of passkeys in the database: one per identity, gone with the link and with the account.
@Suite struct IdentityNameTests {
    private static let passkey = provider("passkey")
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.providers[passkey] = ProviderPin(type: .passkey, issuers: ["example.com"])
        return policy
    }()

    private struct Scene {
        let database: ScratchDatabase
        let fixture: SequencerFixture
        let names: IdentityNameStore
        let ada: Caller
        let identity: IdentityID

        func give(_ text: String, by account: AccountID? = nil) async throws -> Bool {
            try await names.give(
                try #require(IdentityName(text)), to: identity, of: account ?? ada.account,
                in: .default)
        }

        func name() async throws -> String? {
            try await names.names(of: [identity, IdentityID(bits: 1)], in: .default)[identity]?
                .description
        }

        func unlink() async throws -> Result<Reply, Refusal> {
            try await fixture.submit(
                .unlinkProvider(
                    UnlinkProvider(
                        caller: ada, provider: IdentityNameTests.passkey, identity: identity,
                        idempotency: nil)))
        }

        func rows() async throws -> [String] {
            try await database.asSuperuser.texts("SELECT name FROM identity_names")
        }
    }

    /// Opens an account with Apple and a passkey.
    private func with(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, policy: Self.policy) { fixture in
                _ = try await fixture.submit(
                    .setRules(SetRules(Self.policy, condition: .noneRecorded))
                ).get()
                let ada = try await fixture.signIn(subject("apple", "ada"))
                var generator = SeededGenerator(seed: 1)
                let identity: IdentityID = generator.id()
                let key = Proof(
                    subject("passkey", "key"),
                    authenticatedAt: Timestamp(seconds: 1_000_000_000_000),
                    methods: .verifyingPasskey, email: nil,
                    passkey: PasskeyProof(registering: NewPassword(passkey: "key", count: 1)))
                let link = LinkProvider(
                    caller: ada,
                    credential: Credential(
                        provider: Self.passkey, digest: .zero, check: .success(key)),
                    idempotency: nil, newIdentity: identity)
                _ = try await fixture.submit(.linkProvider(link)).get()
                let names = IdentityNameStore(url: database.runtimeURL) { Issue.record("\($0)") }
                try await body(
                    Scene(
                        database: database, fixture: fixture, names: names, ada: ada,
                        identity: identity))
                await names.close()
            }
        }
    }

    @Test func `the last name counts, and only the account that has the passkey gives it`()
        async throws
    {
        try await with { scene in
            #expect(try await scene.name() == nil)
            #expect(try await scene.give("Phone"))
            #expect(try await scene.give("Work phone"))
            let bob = try await scene.fixture.signIn(subject("google", "bob"))
            #expect(try await scene.give("mine", by: bob.account) == false)
            #expect(try await scene.name() == "Work phone")
            #expect(try await scene.rows() == ["Work phone"])
        }
    }

    @Test func `a name goes with the link`() async throws {
        try await with { scene in
            #expect(try await scene.give("Phone"))
            _ = try await scene.unlink().get()
            #expect(try await scene.rows() == [])
            #expect(try await scene.give("Phone") == false)
        }
    }

    @Test func `no name outlives a link that ends at the same time`() async throws {
        for _ in 0..<4 {
            try await with { scene in
                async let named = scene.give("Phone")
                async let unlinked = scene.unlink()
                _ = try await (named, unlinked.get())
                #expect(try await scene.rows() == [])
            }
        }
    }

    @Test func `no name outlives an account that is erased at the same time`() async throws {
        try await with { scene in
            let (isHeld, letGo) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
            let naming = Task {
                try await scene.database.asSuperuser.with { connection in
                    try connection.execute(
                        """
                        BEGIN;
                        SELECT FROM identities WHERE identity_id = '\(scene.identity)' FOR SHARE;
                        INSERT INTO identity_names (tenant_id, identity_id, account_id, name)
                        VALUES ('default', '\(scene.identity)', '\(scene.ada.account)', 'Phone')
                        """)
                    isHeld.continuation.finish()
                    letGo.wait()
                    try connection.execute("COMMIT")
                }
            }
            for await _ in isHeld.stream {}
            async let erased = scene.fixture.submit(
                .eraseAccount(
                    EraseAccount(
                        account: scene.ada.account, basis: .operator, actor: .system)))
            try await soon("the erasure to wait for the lock") {
                try await scene.database.asSuperuser.texts(
                    """
                    SELECT 'x' FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """) == ["x"]
            }
            letGo.signal()
            try await naming.value
            _ = try await erased.get()
            #expect(try await scene.rows() == [])
        }
    }

    @Test func `a name goes with the account`() async throws {
        try await with { scene in
            #expect(try await scene.give("Phone"))
            _ = try await scene.fixture.submit(
                .eraseAccount(
                    EraseAccount(
                        account: scene.ada.account, basis: .operator, actor: .system))
            ).get()
            #expect(try await scene.rows() == [])
        }
    }
}
