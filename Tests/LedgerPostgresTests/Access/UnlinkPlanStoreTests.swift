import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// Planned unlinks in the database: stored under the identity's MAC, found when they are due, and done once, whatever
/// several processes and the holder do at the same time.
@Suite struct UnlinkPlanStoreTests {
    private static let passkey = provider("passkey")
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.providers[passkey] = ProviderPin(type: .passkey, issuers: ["example.com"])
        return policy
    }()

    /// An account with Apple and another identity, which support unlinks.
    private struct Scene {
        let database: ScratchDatabase
        let fixture: SequencerFixture
        let ada: Caller
        let identity: IdentityID

        func change(_ change: PlanUnlink.Change) async throws -> PlanUnlink.Plan {
            let reply = try await fixture.submit(
                .planUnlink(
                    PlanUnlink(
                        change, of: identity, of: ada.account, actor: .system,
                        reason: "not theirs", caseReference: "5"))
            ).get()
            return try #require(PlanUnlink.success(in: reply)?.plan)
        }

        func executeDue() async throws -> Result<Reply, Refusal> {
            try await fixture.submit(
                .endUnlinkPlan(EndUnlinkPlan(of: identity, .due(ada.account))))
        }

        func keep() async throws -> Result<Reply, Refusal> {
            try await fixture.submit(.endUnlinkPlan(EndUnlinkPlan(of: identity, .kept(ada))))
        }

        func stored() async throws -> [String] {
            try await database.asSuperuser.texts(
                "SELECT provider FROM identities WHERE unlink_due IS NOT NULL ORDER BY provider")
        }
    }

    /// Opens an account, links another identity, and runs the body.
    private func with(
        linking linked: @Sendable (inout SeededGenerator) -> Proof = { _ in
            proof(subject("google", "ada"))
        }, _ body: @Sendable (Scene) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                _ = try await fixture.submit(
                    .setRules(SetRules(Self.policy, condition: .noneRecorded))
                ).get()
                let ada = try await fixture.signIn(subject("apple", "ada"))
                var generator = SeededGenerator(seed: 1)
                let identity: IdentityID = generator.id()
                let proof = linked(&generator)
                let link = LinkProvider(
                    caller: ada,
                    credential: Credential(
                        provider: proof.subject.provider, digest: .zero, check: .success(proof)),
                    idempotency: nil, newIdentity: identity)
                _ = try await fixture.submit(.linkProvider(link)).get()
                try await body(
                    Scene(database: database, fixture: fixture, ada: ada, identity: identity))
            }
            #expect(try await findings(database) == [])
        }
    }

    private func findings(_ database: ScratchDatabase) async throws -> [VerificationFinding] {
        let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
        let report = try await verifier.run()
        await verifier.close()
        return report.findings
    }

    /// Starts two sequencers, as of two processes, for which a day has passed.
    private func aDayLater(
        _ database: ScratchDatabase,
        _ body: (SequencerFixture, SequencerFixture) async throws -> Void
    ) async throws {
        // The sequencers look a function without a schema up in `public` once the system has none.
        try await database.asSuperuser.execute(
            """
            ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO clock_of_yesterday;
            CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                AS 'SELECT pg_catalog.clock_of_yesterday() + interval ''25 hours''';
            """)
        func with(
            _ body: (SequencerFixture) async throws -> Void
        ) async throws {
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true, opensLedger: false, body)
        }
        try await with { first in try await with { try await body(first, $0) } }
        try await database.asSuperuser.execute(
            """
            DROP FUNCTION public.clock_timestamp();
            ALTER FUNCTION pg_catalog.clock_of_yesterday() RENAME TO clock_timestamp;
            """)
    }

    /// Executes what is due at a time, as the worker of a process does.
    private func executeAll(
        _ scene: Scene, at time: Timestamp, by fixture: SequencerFixture
    ) async {
        let finder = DueRemovals(url: scene.database.runtimeURL)
        await finder.removeAll(
            at: time, by: fixture.sequencer, onRemoval: { _, _ in },
            onFault: { Issue.record("\($0)") })
        await finder.close()
    }

    @Test func `a planned unlink is stored, shown, found when it is due, and stopped`() async throws
    {
        try await with { scene in
            let due = try #require(try await scene.change(.plan).due)
            #expect(try await scene.stored() == ["google"])
            let finder = DueRemovals(url: scene.database.runtimeURL, pageSize: 1)
            #expect(try await finder.find(.identity, at: due.adding(seconds: -1)).isEmpty)
            let found = try await finder.find(.identity, at: due)
            #expect(found.map(\.id) == [scene.identity.bits])
            #expect(found.map(\.account) == [scene.ada.account] && found.first?.due == due)
            #expect(try await finder.find(.identity, at: due, after: found.first).isEmpty)
            #expect(try await finder.find(.factor, at: due).isEmpty)
            try await scene.database.fold()
            let reads = AccountReads(url: scene.database.runtimeURL) { Issue.record("\($0)") }
            let running = Task { await reads.run() }
            let shown = try await reads.identities(of: scene.ada, in: .default).get()
            #expect(shown.map(\.unlinkDue) == [nil, due])
            reads.close()
            await running.value
            // The clock of the database decides, not the finder.
            #expect(try await scene.executeDue() == .failure(.providerNotLinked))
            #expect(try await scene.change(.stop).due == nil)
            #expect(try await scene.stored() == [])
            #expect(try await finder.find(.identity, at: due).isEmpty)
            _ = try await scene.change(.plan)
            #expect(try await scene.keep() == .success(.unlinkPlanEnded(.stopped)))
            #expect(try await scene.stored() == [])
            await finder.close()
        }
    }

    @Test func `a disabled account is not found`() async throws {
        try await with { scene in
            let due = try #require(try await scene.change(.plan).due)
            func access(_ change: ChangeAccess.Change) async throws {
                _ = try await scene.fixture.submit(
                    .changeAccess(
                        ChangeAccess(
                            change, of: scene.ada.account, actor: .system, reason: "r",
                            caseReference: "6"))
                ).get()
            }
            try await access(.disable)
            let finder = DueRemovals(url: scene.database.runtimeURL)
            #expect(try await finder.find(.identity, at: due).isEmpty)
            #expect(try await scene.stored() == ["google"])
            try await access(.enable)
            #expect(try await scene.stored() == [])
            await finder.close()
        }
    }

    @Test(arguments: ["now() - interval '1 day'", "NULL"])
    func `a changed plan is used by no command, and verify finds it`(
        _ value: String
    ) async throws {
        try await with { scene in
            _ = try await scene.change(.plan)
            try await scene.database.asSuperuser.execute(
                "CREATE TABLE kept AS TABLE identities")
            try await scene.database.asRuntime.execute(
                "UPDATE identities SET unlink_due = \(value) WHERE provider = 'google'")
            let before = try await scene.fixture.log().count
            await #expect(throws: LedgerFault.internalFailure) { _ = try await scene.executeDue() }
            await #expect(throws: LedgerFault.internalFailure) { _ = try await scene.keep() }
            #expect(try await scene.fixture.log().count == before)
            #expect(scene.fixture.reportedFaults.contains { $0.contains("identities.mac") })
            #expect(
                try await findings(scene.database).contains {
                    $0.check == .identities && $0.text.contains("unlink_due")
                })
            try await scene.database.asSuperuser.execute(
                """
                UPDATE identities i SET unlink_due = k.unlink_due FROM kept k
                WHERE k.identity_id = i.identity_id;
                DROP TABLE kept
                """)
        }
    }

    @Test func `two processes unlink what is due once`() async throws {
        try await with { scene in
            let due = try #require(try await scene.change(.plan).due)
            try await aDayLater(scene.database) { first, second in
                async let one: Void = executeAll(scene, at: due, by: first)
                async let other: Void = executeAll(scene, at: due, by: second)
                _ = await (one, other)
                await executeAll(scene, at: due, by: second)
                let names = try await first.log().map(\.recorded.event.name)
                #expect(names.count { $0 == .providerUnlinked } == 1)
                #expect(names.last == .providerUnlinked)
            }
            #expect(try await scene.stored() == [])
        }
    }

    @Test(arguments: 0..<6)
    func `one way stays when the holder unlinks the other at the same time`(
        trial: Int
    ) async throws {
        try await with { scene in
            let due = try #require(try await scene.change(.plan).due)
            try await aDayLater(scene.database) { first, second in
                let ada = try await first.signIn(subject("google", "ada"))
                #expect(ada.account == scene.ada.account)
                let unlink = Command.Intent.unlinkProvider(
                    UnlinkProvider(
                        caller: ada, provider: provider("apple"), identity: nil,
                        idempotency: nil))
                async let unlinked = second.submit(unlink)
                if trial.isMultiple(of: 2) { _ = try await second.submit(unlink) }
                async let executed: Void = executeAll(scene, at: due, by: first)
                _ = await executed
                let result = try await unlinked
                let names = try await first.log().map(\.recorded.event.name)
                let linked = try await scene.database.asSuperuser.texts(
                    "SELECT provider FROM identities WHERE account_id IS NOT NULL")
                #expect(linked.count == 1)
                #expect(names.count { $0 == .providerUnlinked } == 1)
                if linked == ["google"] {
                    #expect(names.last == .providerUnlinkStopped)
                } else {
                    // The session of the identity ended with it, or the other one was the last.
                    #expect(result == .failure(.sessionEnded) || result == .failure(.onlyProvider))
                }
                await executeAll(scene, at: due, by: second)
                #expect(
                    try await first.log().count { $0.recorded.event.name == .providerUnlinkStopped }
                        <= 1)
            }
            #expect(try await scene.stored() == [])
        }
    }

    @Test func `the key of a passkey and a password are destroyed`() async throws {
        let proofs: [@Sendable (inout SeededGenerator) -> Proof] = [
            { generator in
                Proof(
                    subject("passkey", "key"), authenticatedAt: Timestamp(seconds: 0),
                    methods: .verifyingPasskey, email: nil,
                    passkey: PasskeyProof(
                        registering: NewPassword(passkey: "key", count: 1)),
                    usedUp: SingleUseIDToken(
                        digest: digest(generator.bytes(32)),
                        expiresAt: Timestamp(seconds: 4_000_000_000)))
            },
            { SignIn(address: "ada@example.com", password: "hash", &$0).proof },
        ]
        for proof in proofs {
            try await with(linking: proof) { scene in
                func credentials() async throws -> Int {
                    try await scene.database.asSuperuser.texts("SELECT 'x' FROM credentials").count
                }
                #expect(try await credentials() == 1)
                let due = try #require(try await scene.change(.plan).due)
                try await aDayLater(scene.database) { first, _ in
                    await executeAll(scene, at: due, by: first)
                }
                #expect(try await credentials() == 0)
            }
        }
    }

    @Test func `a merge and an erasure leave no plan behind`() async throws {
        try await with { scene in
            _ = try await scene.change(.plan)
            let bob = try await scene.fixture.signIn(subject("facebook", "bob"))
            let asked = MergeAccounts.Authority.support(
                .system,
                MergeAccounts.Case(
                    survivor: bob.account, absorbed: scene.ada.account, reason: "r",
                    reference: "c"))
            let preview = try await scene.fixture.submit(
                .mergeAccounts(
                    MergeAccounts(
                        authority: asked, keepsAbsorbed: [], agreed: nil, digest: sha256))
            ).get()
            guard case .mergePlanned(_, let digest) = preview else { return }
            _ = try await scene.fixture.submit(
                .mergeAccounts(
                    MergeAccounts(
                        authority: asked, keepsAbsorbed: [], agreed: digest, digest: sha256))
            ).get()
            #expect(try await scene.stored() == [])
            let plan = PlanUnlink(
                .plan, of: scene.identity, of: bob.account, actor: .system, reason: "r",
                caseReference: "c")
            _ = try await scene.fixture.submit(.planUnlink(plan)).get()
            #expect(try await scene.stored() == ["google"])
            _ = try await scene.fixture.submit(
                .eraseAccount(
                    EraseAccount(
                        account: bob.account, basis: .dataSubjectRequest, actor: .system))
            ).get()
            #expect(try await scene.stored() == [])
        }
    }
}
