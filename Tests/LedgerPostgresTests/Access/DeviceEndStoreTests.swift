import Cryptography
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The ends of device tokens in the database.
@Suite struct DeviceEndStoreTests {
    private struct Outbox: CodeOutbox {
        func write(
            _ message: CodeMessage, for challenge: StoredChallenge, on connection: Connection
        ) throws {}

        func committed() {}
    }

    /// Before the ends, which have the time of the database's clock.
    private static let now = Timestamp(seconds: 1_700_000_000)
    private static let (ada, bob) = ("ada@example.com", "bob@example.com")

    private struct Scene: Sendable {
        let database: ScratchDatabase
        let fixture: SequencerFixture
        let store: PostgresChallengeStore
        let codes: AddressCodes

        private func proved(_ text: String) -> ProvedAddress {
            ProvedAddress(
                kind: .email, text: text, names: codes.names(of: text, .email, in: .default),
                newID: AddressID(bits: text == ada ? 1 : 2))
        }

        func signIn(_ text: String) async throws -> Caller {
            let grant = try await session(text)
            return Caller(account: grant.account, session: grant.session)
        }

        func session(_ text: String) async throws -> Grant {
            var generator = SeededGenerator(seed: text == ada ? 1 : 2)
            let address = proved(text)
            let proof = Proof(
                subject("email", address.newID.description),
                authenticatedAt: Timestamp(seconds: 1_000_000_000), methods: .oneTimePassword,
                email: Email(text, isVerified: true), address: address)
            let reply = try await fixture.submit(.signIn(SignIn(proof, &generator))).get()
            return try #require(SignIn.success(in: reply)).grant
        }

        func token(
            _ text: String, _ account: AccountID? = nil, presented: String? = nil,
            openedAt: Timestamp? = nil
        ) async throws -> String {
            try #require(
                await codes.deviceToken(
                    for: [proved(text)], account, presented: presented, openedAt: openedAt,
                    in: .default, at: now))
        }

        func isKnown(
            _ token: String, to text: String? = nil, _ account: AccountID? = nil
        ) async -> Bool {
            await codes.isKnown(token, to: text.map(proved), account, in: .default, at: now)
        }

        func submit(_ intent: Command.Intent) async throws {
            _ = try await fixture.submit(intent).get()
        }

        func endSessions(of account: AccountID) async throws {
            try await submit(
                .changeAccess(
                    ChangeAccess(
                        .endSessions, of: account, actor: .system, reason: "stolen",
                        caseReference: "T-6")))
        }
    }

    private func with(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: RandomCommands.policy(hasEveryType: true), isProtected: true
            ) { fixture in
                let store = PostgresChallengeStore(
                    url: database.runtimeURL, keyring: SequencerFixture.strictKeyring,
                    outbox: Outbox(), onFault: { Issue.record("\($0)") })
                let codes = AddressCodes(
                    current: "key", keys: ["key": SymmetricKey.generate()], store: store,
                    textsMax: { _ in 1_000 }, random: { SecureRandom.uint128() })
                try await body(
                    Scene(database: database, fixture: fixture, store: store, codes: codes))
                await store.close()
            }
        }
    }

    @Test(arguments: ["disable", "end_sessions", "sign_out"])
    func `tokens of the account and its addresses end, and no others`(end: String) async throws {
        try await with { scene in
            let caller = try await scene.signIn(Self.ada)
            _ = try await scene.signIn(Self.bob)
            let token = try await scene.token(
                Self.ada, caller.account, presented: try await scene.token(Self.bob))
            #expect(await scene.isKnown(token, to: Self.ada))
            #expect(await scene.isKnown(token, caller.account))
            let change = ChangeAccess.Change(rawValue: end).map {
                ChangeAccess(
                    $0, of: caller.account, actor: .system, reason: "stolen", caseReference: "T-6")
            }
            try await scene.submit(
                change.map { Command.Intent.changeAccess($0) }
                    ?? .signOut(SignOut(caller: caller, scope: .everywhere)))
            #expect(await !scene.isKnown(token, to: Self.ada))
            #expect(await !scene.isKnown(token, caller.account))
            #expect(await scene.isKnown(token, to: Self.bob))
            // The clock of the server is behind that of the database, which dates the end.
            let renewed = try await scene.token(Self.ada, presented: token)
            #expect(renewed != token)
            #expect(await scene.isKnown(renewed, to: Self.ada))
            #expect(await scene.isKnown(renewed, to: Self.bob))
        }
    }

    @Test func `an end after a sign-in ends the token that is made later`() async throws {
        try await with { scene in
            let grant = try await scene.session(Self.ada)
            let openedAt = try #require(grant.openedAt)
            let token = try await scene.token(Self.ada, openedAt: openedAt)
            #expect(await scene.isKnown(token, to: Self.ada))
            try await scene.submit(
                .signOut(
                    SignOut(
                        caller: Caller(account: grant.account, session: grant.session),
                        scope: .everywhere)))
            let late = try await scene.token(Self.ada, openedAt: openedAt)
            #expect(await !scene.isKnown(late, to: Self.ada))
        }
    }

    @Test(arguments: [SignedOut.Scope.session, .everywhere])
    func `those of an absorbed account end with all sessions of its survivor`(
        scope: SignedOut.Scope
    ) async throws {
        try await with { scene in
            let survivor = try await scene.fixture.signIn(subject("google", "ada"))
            let absorbed = try await scene.signIn(Self.bob)
            let token = try await scene.token(Self.bob)
            func merge(_ agreed: Digest?) async throws -> Reply {
                try await scene.fixture.submit(
                    .mergeAccounts(
                        MergeFixture.intent(
                            absorbed.account, into: survivor.account, keeping: [], agreed: agreed))
                ).get()
            }
            guard case .mergePlanned(_, let digest) = try await merge(nil),
                case .merged = try await merge(digest)
            else {
                Issue.record("not merged")
                return
            }
            #expect(await scene.isKnown(token, to: Self.bob))
            try await scene.submit(.signOut(SignOut(caller: survivor, scope: scope)))
            #expect(await scene.isKnown(token, to: Self.bob) == (scope == .session))
        }
    }

    @Test(arguments: [
        "claimed = true", "former_of = gen_random_uuid(), kept_until = '2099-01-01'",
    ])
    func `those of a claimed and of a former address do not end with the account's`(
        change: String
    ) async throws {
        try await with { scene in
            let ada = try await scene.signIn(Self.ada)
            let token = try await scene.token(Self.ada)
            try await scene.endSessions(of: ada.account)
            #expect(await !scene.isKnown(token, to: Self.ada))
            try await scene.database.asSuperuser.execute("UPDATE addresses SET \(change)")
            #expect(await scene.isKnown(token, to: Self.ada))
        }
    }

    @Test(arguments: [true, false])
    func `a code ends when support ends the sessions, and not when its holder does`(
        bySupport: Bool
    ) async throws {
        try await with { scene in
            let ada = try await scene.signIn(Self.ada)
            _ = try await scene.codes.send(
                to: Self.ada, .email, of: RandomCommands.email, in: .default, for: .signIn,
                from: "n", language: nil, at: Self.now)
            if bySupport {
                try await scene.endSessions(of: ada.account)
            } else {
                try await scene.submit(.signOut(SignOut(caller: ada, scope: .everywhere)))
            }
            let left = try await scene.database.rows("count(*)::text]) FROM challenges")
            #expect(left == [bySupport ? "0" : "1"])
        }
    }

    @Test func `the end of an address that is named by a former key is found`() async throws {
        try await with { scene in
            let ada = try await scene.signIn(Self.ada)
            try await scene.endSessions(of: ada.account)
            let names = scene.codes.names(of: Self.ada, .email, in: .default)
            let newer = AddressName(
                kind: .email, digest: sha256(Array("a digest by a newer key".utf8)), key: "newer")
            let ended = try await scene.store.devicesEnded(
                of: [newer] + names, nil, in: .default)
            #expect(ended != nil)
            #expect(try await scene.store.devicesEnded(of: [newer], nil, in: .default) == nil)
            #expect(
                try await scene.store.devicesEnded(of: [], ada.account, in: .default) == ended)
        }
    }

    @Test func `an accepted restore ends all tokens of the tenant`() async throws {
        try await with { scene in
            let ada = try await scene.signIn(Self.ada)
            // No account has the second address.
            let token = try await scene.token(
                Self.ada, ada.account, presented: try await scene.token(Self.bob))
            let connection = try Connection(
                url: scene.database.runtimeURL, applicationName: "test")
            _ = try connection.pipeline([DeviceEnds.endingAll(of: .default)])
            connection.close()
            #expect(await !scene.isKnown(token, to: Self.ada))
            #expect(await !scene.isKnown(token, to: Self.bob))
            #expect(await !scene.isKnown(token, ada.account))
            let renewed = try await scene.token(Self.bob, presented: token)
            #expect(await scene.isKnown(renewed, to: Self.bob))
        }
    }
}
