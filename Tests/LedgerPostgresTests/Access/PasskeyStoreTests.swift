import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// Passkeys in the database: one use a challenge, counters, and unlinks at the same time.
@Suite struct PasskeyStoreTests {
    private static let trials = 8
    private static let passkey = provider("passkey")
    private static let policy: TenantPolicy = {
        var policy = SequencerFixture.unlimitedPolicy
        policy.providers[passkey] = ProviderPin(type: .passkey, issuers: ["example.com"])
        return policy
    }()
    /// After the present, by which the database forgets challenges.
    private static let expiry = Timestamp(
        seconds: Int64(Date().timeIntervalSince1970) + 600)

    /// Two sequencers on one database, and the store of passkeys.
    private struct Stage {
        let first, second: SequencerFixture
        let store: PostgresCredentialStore

        /// Signs in with a proof; returns nil when it is refused as no longer valid.
        func signIn(_ proof: Proof, at fixture: SequencerFixture) async throws -> Caller? {
            var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
            let intent = SignIn(
                proof, createAccount: proof.passkey?.registered != nil,
                refreshToken: digest(generator.bytes(32)), newAccount: generator.id(),
                newIdentity: generator.id(), newSession: generator.id())
            let result = try await fixture.submit(.signIn(intent))
            switch result {
            case .success(.signedIn(let grant, _)):
                return Caller(account: grant.account, session: grant.session)
            case .failure(.invalidProviderToken): return nil
            default: throw ModelLedger.Unexpected(result: result)
            }
        }

        /// Opens an account with a passkey.
        func signUp(_ id: String, count: UInt32 = 1) async throws -> Caller {
            try #require(
                try await signIn(
                    proof(
                        id,
                        PasskeyProof(
                            registering: NewPassword(passkey: "key of \(id)", count: count)),
                        challenge()), at: first))
        }

        /// Makes the proof of a use that was checked against the stored passkey.
        func use(
            _ id: String, count: UInt32?, _ challenge: SingleUseIDToken? = nil
        ) async throws -> Proof {
            let stored = try #require(try await passkey(id))
            return proof(
                id,
                PasskeyProof(
                    using: stored.version,
                    renewed: count.map { NewPassword(passkey: "key of \(id)", count: $0) }),
                challenge ?? self.challenge())
        }

        func passkey(_ id: String) async throws -> StoredPassword? {
            try await store.passkey(of: subject("passkey", id), in: .default)
        }

        func challenge() -> SingleUseIDToken {
            var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
            return SingleUseIDToken(
                digest: digest(generator.bytes(32)), expiresAt: PasskeyStoreTests.expiry)
        }

        private func proof(
            _ id: String, _ passkey: PasskeyProof, _ challenge: SingleUseIDToken
        ) -> Proof {
            Proof(
                subject("passkey", id), authenticatedAt: Timestamp(seconds: 1_000_000_000_000),
                methods: .verifyingPasskey, email: nil, passkey: passkey, usedUp: challenge)
        }
    }

    private func withTwo(_ body: @Sendable (Stage) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            let store = PostgresCredentialStore(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring,
                onFault: { Issue.record("\($0)") })
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { first in
                // The rows of the unlinked are deleted by the recorded type of the provider.
                _ = try await first.submit(
                    .setRules(SetRules(Self.policy, condition: .noneRecorded))
                ).get()
                try await SequencerFixture.with(
                    database, policy: Self.policy, isProtected: true, opensLedger: false
                ) { second in
                    try await body(Stage(first: first, second: second, store: store))
                }
            }
            await store.close()
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let verified = try await verifier.run()
            await verifier.close()
            #expect(verified.holds, "\(verified.findings)")
        }
    }

    @Test func `one of two sign-ins that answer one challenge at once succeeds`() async throws {
        try await withTwo { stage in
            // A key that does not count: the challenge alone refuses the other one.
            _ = try await stage.signUp("key", count: 0)
            for _ in 0..<Self.trials {
                let challenge = stage.challenge()
                let uses = [
                    try await stage.use("key", count: nil, challenge),
                    try await stage.use("key", count: nil, challenge),
                ]
                async let here = stage.signIn(uses[0], at: stage.first)
                async let there = stage.signIn(uses[1], at: stage.second)
                let sessions = try await [here, there].compactMap(\.self)
                #expect(sessions.count == 1)
            }
        }
    }

    @Test func `one of two registrations that answer one challenge at once succeeds`()
        async throws
    {
        try await withTwo { stage in
            for trial in 0..<Self.trials {
                let challenge = stage.challenge()
                let made = ["a", "b"].map { name in
                    let id = "\(name)\(trial)"
                    return Proof(
                        subject("passkey", id), authenticatedAt: Timestamp(seconds: 1),
                        methods: .passkey, email: nil,
                        passkey: PasskeyProof(
                            registering: NewPassword(passkey: id, count: 0)),
                        usedUp: challenge)
                }
                async let here = stage.signIn(made[0], at: stage.first)
                async let there = stage.signIn(made[1], at: stage.second)
                let sessions = try await [here, there].compactMap(\.self)
                #expect(sessions.count == 1)
            }
        }
    }

    @Test func `the passkeys of an account show which ones a merge brought`() async throws {
        try await withTwo { stage in
            let ada = try await stage.signUp("ada")
            let bob = try await stage.signUp("bob")
            let authority = MergeAccounts.Authority.support(
                .system,
                MergeAccounts.Case(
                    survivor: ada.account, absorbed: bob.account, reason: "one", reference: "1"))
            let plan = try await stage.first.submit(
                MergeAccounts.Preview(authority: authority, keepsAbsorbed: [], digest: sha256)
                    .intent
            ).get()
            let planned = try #require(MergeAccounts.Preview.success(in: plan))
            _ = try await stage.first.submit(
                .mergeAccounts(
                    MergeAccounts(
                        authority: authority, keepsAbsorbed: [], agreed: planned.digest,
                        digest: sha256))
            ).get()
            let keys = try await stage.store.passkeys(
                of: ada.account, at: Self.passkey, in: .default)
            #expect(
                Set(keys.map { "\($0.text) \($0.isAbsorbed)" })
                    == ["1 key of ada false", "1 key of bob true"])
        }
    }

    @Test func `of two uses at once the larger counter is kept`() async throws {
        try await withTwo { stage in
            let ada = try await stage.signUp("key")
            for trial in 0..<Self.trials {
                let count = UInt32(10 * trial)
                let earlier = try await stage.use("key", count: count + 10)
                let later = try await stage.use("key", count: count + 11)
                async let here = stage.signIn(earlier, at: stage.first)
                async let there = stage.signIn(later, at: stage.second)
                _ = try await here
                #expect(try await there != nil)
                let stored = try #require(try await stage.passkey("key"))
                #expect(NewPassword(hash: stored.hash).passkeyCount == count + 11)
                #expect(stored.account == ada.account)
            }
        }
    }

    @Test func `a use that was checked before a later one is refused`() async throws {
        try await withTwo { stage in
            _ = try await stage.signUp("key")
            let earlier = try await stage.use("key", count: 5)
            let later = try await stage.use("key", count: 6)
            #expect(try await stage.signIn(later, at: stage.first) != nil)
            #expect(try await stage.signIn(earlier, at: stage.second) == nil)
            let again = try await stage.use("key", count: 6)
            #expect(try await stage.signIn(again, at: stage.second) == nil)
        }
    }

    @Test func `an unlink during a sign-in leaves no key and no session of it`() async throws {
        try await withTwo { stage in
            for trial in 0..<Self.trials {
                let id = "key \(trial)"
                let ada = try await stage.signUp(id)
                var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
                let linked = try await stage.first.submit(
                    .linkProvider(
                        LinkProvider(
                            caller: ada,
                            credential: Credential(subject("google", id), digest: .zero),
                            idempotency: nil, newIdentity: generator.id())))
                guard case .success = linked else {
                    throw ModelLedger.Unexpected(result: linked)
                }
                let use = try await stage.use(id, count: 2)
                async let unlinked = stage.first.submit(
                    .unlinkProvider(
                        UnlinkProvider(
                            caller: ada, provider: Self.passkey, identity: nil,
                            idempotency: nil)))
                async let signedIn = stage.signIn(use, at: stage.second)
                _ = try await unlinked.get()
                let session = try await signedIn
                #expect(try await stage.passkey(id) == nil)
                if let session {
                    // It began before the unlink, which ended it.
                    let refused = try await stage.first.submit(
                        .signOut(SignOut(caller: session, scope: .session)))
                    #expect(throws: Refusal.sessionEnded) { try refused.get() }
                }
            }
        }
    }

    @Test func `a key that is linked and enrolled at once is one of both`() async throws {
        try await withTwo { stage in
            for trial in 0..<Self.trials {
                let ada = try await stage.first.signIn(subject("apple", "ada \(trial)"))
                var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
                let app = EnrolFactor(by: ada, &generator)
                _ = try await stage.first.submit(.enrolFactor(app)).get()
                let caller = Caller(account: ada.account, session: app.newSession)
                let key = subject("passkey", "both \(trial)")
                let registration = Proof(
                    key, authenticatedAt: Timestamp(seconds: 1), methods: .passkey, email: nil,
                    passkey: PasskeyProof(registering: NewPassword(passkey: "key", count: 0)),
                    usedUp: stage.challenge())
                let linking = Command.Intent.linkProvider(
                    LinkProvider(
                        caller: caller,
                        credential: Credential(
                            provider: Self.passkey, digest: digest(generator.bytes(32)),
                            check: .success(registration)),
                        idempotency: nil, newIdentity: generator.id()))
                let enrolling = Command.Intent.enrolFactor(
                    EnrolFactor(
                        .passkey, by: caller, passkey: (subject: key, domain: "example.com"),
                        &generator))
                async let linked = stage.first.submit(linking)
                async let enrolled = stage.second.submit(enrolling)
                switch try await (linked, enrolled) {
                case (.success, .failure(.invalidCode)): break
                case (.failure(.invalidProviderToken), .success): break
                case (let linked, let enrolled): Issue.record("\(linked) and \(enrolled)")
                }
            }
        }
    }
}
