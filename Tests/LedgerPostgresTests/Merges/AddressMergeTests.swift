import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// Merges of accounts that are signed in to with addresses, and their undoing.
@Suite struct AddressMergeTests {
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.reauthenticationSeconds = .max / 2_000_000
        return policy
    }()

    private struct Scene {
        let database: ScratchDatabase
        let fixture: SequencerFixture
        var generator = SeededGenerator(seed: 3)

        mutating func signIn(_ proof: Proof) async throws -> Caller {
            let signIn = SignIn(proof, &generator)
            let reply = try await fixture.submit(.signIn(signIn)).get()
            let grant = try #require(SignIn.success(in: reply)).grant
            return Caller(account: grant.account, session: grant.session)
        }

        mutating func code(_ address: String) -> Proof {
            addressProof(address, new: generator.id())
        }

        mutating func link(_ proof: Proof, to caller: Caller) async throws {
            _ = try await fixture.submit(
                .linkProvider(
                    LinkProvider(
                        caller: caller,
                        credential: Credential(
                            provider: proof.subject.provider, digest: sha256(generator.bytes(8)),
                            check: .success(proof)), idempotency: nil,
                        newIdentity: generator.id()))
            ).get()
        }

        /// Changes an address and returns the caller's new session.
        mutating func change(
            _ present: String, to address: String, by caller: Caller
        ) async throws -> Caller {
            let renewal = SessionRenewal(
                caller: caller, password: nil, refreshToken: sha256(generator.bytes(8)),
                newSession: generator.id())
            let change = ChangeAddress(
                renewal, from: try #require(code(present).address).names, to: code(address),
                newFormer: generator.id())
            _ = try await fixture.submit(.changeAddress(change)).get()
            return Caller(account: caller.account, session: renewal.newSession)
        }

        func merge(_ absorbed: Caller, into survivor: Caller) async throws -> EventID {
            func merged(agreed: Digest?) async throws -> Reply {
                try await fixture.submit(
                    .mergeAccounts(
                        MergeFixture.intent(
                            absorbed.account, into: survivor.account, keeping: [], agreed: agreed))
                ).get()
            }
            guard case .mergePlanned(_, let digest) = try await merged(agreed: nil),
                case .merged(_, let event?) = try await merged(agreed: digest)
            else { throw Unexpected(what: "not merged") }
            return event
        }

        func undo(
            _ merge: EventID, of absorbed: Caller, from survivor: Caller
        ) async throws -> Result<Reply, Refusal> {
            try await fixture.submit(
                .unmergeAccounts(
                    UnmergeAccounts(
                        merge: merge, survivor: survivor.account, absorbed: absorbed.account,
                        actor: .system, reason: "two", caseReference: "2", isPreview: false)))
        }

        /// Returns the rows of an account in `user_providers`.
        func shown(_ caller: Caller) async throws -> [String] {
            try await database.fold()
            return try await database.asSuperuser.texts(
                """
                SELECT concat_ws(' ', provider, email, email_verified) FROM user_providers
                WHERE user_id = '\(caller.account)' ORDER BY 1
                """)
        }
    }

    private func with(_ body: @Sendable (inout Scene) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                _ = try await fixture.submit(
                    .setRules(SetRules(Self.policy, condition: .noneRecorded))
                ).get()
                var scene = Scene(database: database, fixture: fixture)
                try await body(&scene)
                try await database.fold()
            }
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
        }
    }

    @Test func `a change of the password ends the codes sent to an absorbed account's address`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn(
                passwordProof(
                    "ada@example.com", new: scene.generator.id(), hash: "hash", isClaim: false))
            let bob = try await scene.signIn(scene.code("bob@example.com"))
            _ = try await scene.merge(bob, into: ada)
            try await scene.database.asSuperuser.execute(
                """
                INSERT INTO challenges (tenant_id, challenge_id, provider, digest, code_digest,
                    key_id, sealed, wrapping_key, expires_at)
                VALUES ('default', '\(ChallengeID(bits: 1))', 'email', sha256('bob@example.com'),
                    sha256('b'), 'key', '', 'key', now() + interval '10 min')
                """)
            let renewal = SessionRenewal(
                caller: ada, password: nil, refreshToken: sha256(scene.generator.bytes(8)),
                newSession: scene.generator.id())
            _ = try await scene.fixture.submit(
                .changePassword(ChangePassword(renewal, to: NewPassword(hash: "new")))
            ).get()
            #expect(
                try await scene.database.rows("challenge_id::text]) FROM challenges") == [])
        }
    }

    @Test func `a merge is not undone while both accounts would be signed in to with one address`()
        async throws
    {
        try await with { scene in
            let ada = try await scene.signIn(scene.code("ada@example.com"))
            let bob = try await scene.signIn(proof(subject("google", "bob")))
            let merge = try await scene.merge(ada, into: bob)
            try await scene.link(
                passwordProof(
                    "ada@example.com", new: scene.generator.id(), hash: "hash", isClaim: false),
                to: bob)
            #expect(
                try await scene.undo(merge, of: ada, from: bob)
                    == .failure(.mergeSuperseded(.addressShared)))
        }
    }

    @Test func `an identity that returns shows its address`() async throws {
        try await with { scene in
            let ada = try await scene.signIn(scene.code("ada@example.com"))
            let bob = try await scene.signIn(proof(subject("google", "bob")))
            let merge = try await scene.merge(ada, into: bob)
            _ = try await scene.undo(merge, of: ada, from: bob).get()
            let shown = try await scene.shown(ada)
            #expect(shown == ["email ada@example.com t"])
        }
    }

    @Test func `an identity that returns shows its address as it was changed`() async throws {
        try await with { scene in
            var ada = try await scene.signIn(proof(subject("apple", "ada")))
            try await scene.link(scene.code("ada@example.com"), to: ada)
            ada = try await scene.change("ada@example.com", to: "new@example.com", by: ada)
            let bob = try await scene.signIn(proof(subject("google", "bob")))
            let merge = try await scene.merge(ada, into: bob)
            _ = try await scene.undo(merge, of: ada, from: bob).get()
            let shown = try await scene.shown(ada)
            #expect(shown == ["apple", "email new@example.com t"])
        }
    }

    @Test func `a change after the undoing counts, also in a rebuilt table`() async throws {
        try await with { scene in
            let ada = try await scene.signIn(scene.code("ada@example.com"))
            let bob = try await scene.signIn(proof(subject("google", "bob")))
            let merge = try await scene.merge(ada, into: bob)
            _ = try await scene.undo(merge, of: ada, from: bob).get()
            let session = try await scene.signIn(scene.code("ada@example.com"))
            _ = try await scene.change("ada@example.com", to: "new@example.com", by: session)
            let shown = try await scene.shown(ada)
            #expect(shown == ["email new@example.com t"])
            let rebuild = OnlineRebuild(
                ownerURL: scene.database.ownerURL, keyring: SequencerFixture.strictKeyring)
            _ = try await rebuild.run(.userProviders)
            await rebuild.close()
            let again = try await scene.shown(ada)
            #expect(again == ["email new@example.com t"])
        }
    }
}
