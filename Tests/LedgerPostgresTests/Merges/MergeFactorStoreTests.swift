import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// The rows of merges that unite second factors: sign-ins with either, planned removals, undoing, erasure, tampering.
@Suite struct MergeFactorStoreTests {
    private static let (apple, google) = (subject("apple", "ada"), subject("google", "bob"))
    private static let sam = Principal(staff: StaffID(bits: 1), role: .support)
    private static let kim = Principal(staff: StaffID(bits: 2), role: .support)

    /// Ada's and Bob's accounts, each with an authenticator app, merged by the holder of both.
    private struct Scene {
        let database: ScratchDatabase
        let fixture: SequencerFixture
        let store: PostgresCredentialStore
        let ada: EnrolFactor
        let bob: EnrolFactor
        let merge: EventID

        var account: AccountID { ada.caller.account }

        /// Signs in with a second factor.
        func finish(
            _ subject: Subject, _ factor: FactorID, _ counter: Int64, to account: AccountID? = nil
        ) async throws -> Result<Reply, Refusal> {
            var generator = SeededGenerator(seed: .random(in: 0...(.max)))
            return try await fixture.submit(
                .signIn(
                    SignIn(
                        proof(subject), of: account ?? self.account, factor: factor,
                        counter: counter, &generator)))
        }

        /// Undoes the merge by two persons.
        func undo() async throws {
            func submit(_ principal: Principal, _ step: TwoPersonStep) async throws -> Reply {
                try await fixture.submit(
                    .unmergeAccounts(
                        UnmergeAccounts(
                            merge: merge, survivor: account, absorbed: bob.caller.account,
                            actor: .principal(principal), reason: "two people",
                            caseReference: "case 8", isPreview: false, step: step))
                ).get()
            }
            guard
                case .unmergeAsked(let digest) = try await submit(
                    MergeFactorStoreTests.sam, .ask(sha256))
            else { return }
            let request = TwoPersonStep.Request(asker: MergeFactorStoreTests.sam, digest: digest)
            let undone = try await submit(MergeFactorStoreTests.kim, .confirm(request, sha256))
            guard case .unmerged = undone else {
                Issue.record("not undone: \(undone)")
                return
            }
        }

        func findings() async throws -> [VerificationFinding] {
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let report = try await verifier.run()
            await verifier.close()
            return report.findings
        }

        /// Whether the stored factors of an account are those of some enrolments.
        func stores(_ enrolments: [EnrolFactor], of account: AccountID) async throws -> Bool {
            let stored = try await store.factors(of: account, in: .default)
            let expected = enrolments.flatMap { [$0.factor, $0.recoveryCodes] }
            return Set(stored.map(\.factor.id)) == Set(expected.map(\.id))
                && stored.allSatisfy { $0.factor.holder == account }
        }
    }

    private func with(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { fixture in
                var enrolments: [EnrolFactor] = []
                for (subject, seed) in [(Self.apple, UInt64(1)), (Self.google, 2)] {
                    var generator = SeededGenerator(seed: seed)
                    let caller = try await fixture.signIn(subject)
                    enrolments.append(EnrolFactor(by: caller, &generator))
                    _ = try await fixture.submit(.enrolFactor(enrolments[enrolments.count - 1]))
                        .get()
                }
                let callers = enrolments.map {
                    Caller(account: $0.caller.account, session: $0.newSession)
                }
                func merge(_ agreed: Digest?) async throws -> Reply {
                    try await fixture.submit(
                        .mergeAccounts(
                            MergeAccounts(
                                authority: .holderOfBoth(callers[0], callers[1]),
                                keepsAbsorbed: [], agreed: agreed, digest: sha256))
                    ).get()
                }
                guard case .mergePlanned(_, let digest) = try await merge(nil),
                    case .merged(_, let event?) = try await merge(digest)
                else {
                    Issue.record("not merged")
                    return
                }
                let store = PostgresCredentialStore(
                    url: database.runtimeURL, keyring: SequencerFixture.strictKeyring,
                    onFault: { Issue.record("\($0)") })
                try await body(
                    Scene(
                        database: database, fixture: fixture, store: store, ada: enrolments[0],
                        bob: enrolments[1], merge: event))
                await store.close()
            }
        }
    }

    @Test func `either factor completes a sign-in, and an undoing gives each its own`()
        async throws
    {
        try await with { scene in
            let (ada, bob) = (scene.ada, scene.bob)
            #expect(try await scene.stores([ada, bob], of: scene.account))
            #expect(try await scene.findings() == [])
            _ = try await scene.finish(Self.google, ada.factor.id, 50).get()
            _ = try await scene.finish(Self.apple, bob.factor.id, 50).get()
            _ = try await scene.finish(Self.apple, bob.recoveryCodes.id, 3).get()
            #expect(
                try await scene.finish(Self.apple, bob.recoveryCodes.id, 3)
                    == .failure(.invalidCode))
            #expect(try await scene.findings() == [])
            try await scene.undo()
            let other = bob.caller.account
            #expect(try await scene.stores([ada], of: scene.account))
            #expect(try await scene.stores([bob], of: other))
            _ = try await scene.finish(Self.google, bob.factor.id, 60, to: other).get()
            #expect(
                try await scene.finish(Self.apple, bob.factor.id, 70) == .failure(.invalidCode))
            #expect(try await scene.findings() == [])
        }
    }

    @Test func `a factor that loses its provider is listed with the account that has it now`()
        async throws
    {
        try await with { scene in
            try await scene.database.asSuperuser.execute(
                "UPDATE factors SET domain = 'login.example' WHERE kind = 'totp'")
            func listed() async throws -> [AccountID] {
                let new = TenantPolicy(providers: [:])
                let former = TenantPolicy(providers: [
                    provider("passkey"): ProviderPin(type: .passkey, issuers: ["login.example"])
                ])
                let found = try await scene.database.asRuntime.with {
                    try RecordedRules.accounts(
                        of: .default, losingFactorsBy: new, since: former, limit: 10, on: $0)
                }
                #expect(found.count == Int64(found.accounts.count))
                return found.accounts
            }
            #expect(try await listed() == [scene.account])
            try await scene.database.asSuperuser.execute(
                "UPDATE accounts SET merged_into = NULL")
            #expect(try await listed() == [scene.account, scene.bob.caller.account].sorted())
        }
    }

    @Test func `a planned removal of a factor that was united is found, and ends with an undoing`()
        async throws
    {
        try await with { scene in
            let factor = scene.bob.factor.id
            func plan() async throws -> Timestamp? {
                let reply = try await scene.fixture.submit(
                    .planFactorRemoval(
                        PlanFactorRemoval(
                            .plan, of: factor, of: scene.account, actor: .system,
                            reason: "lost phone", caseReference: "5"))
                ).get()
                return PlanFactorRemoval.success(in: reply)?.plan.due
            }
            let due = try #require(try await plan())
            let finder = DueRemovals(url: scene.database.runtimeURL)
            let found = try await finder.find(.factor, at: due)
            await finder.close()
            #expect(found.map(\.id) == [factor.bits] && found.map(\.account) == [scene.account])
            let signedIn = try await scene.finish(Self.apple, scene.ada.factor.id, 50).get()
            guard case .signedIn(let grant, _) = signedIn else { return }
            try await scene.database.fold()
            let holder = Caller(account: grant.account, session: grant.session)
            let shown = try await `Account reads`.read(scene.database) { reads in
                try await reads.linkedAccount(of: holder, in: .default).get().hasPlannedRemoval
            }
            #expect(shown)
            #expect(try await scene.findings() == [])
            try await scene.undo()
            let dues = try await scene.database.asSuperuser.texts(
                "SELECT factor_id::text FROM factors WHERE removal_due IS NOT NULL")
            #expect(dues == [])
            #expect(try await scene.findings() == [])
        }
    }

    @Test func `an erasure deletes the factors of both accounts`() async throws {
        try await with { scene in
            _ = try await scene.fixture.submit(
                .eraseAccount(
                    EraseAccount(
                        account: scene.account, basis: .dataSubjectRequest, actor: .system))
            ).get()
            let rows = try await scene.database.asSuperuser.texts(
                "SELECT factor_id::text FROM factors")
            #expect(rows == [])
            #expect(try await scene.findings() == [])
        }
    }

    /// The database alone makes a factor of one account no factor of another.
    @Test(arguments: [
        "UPDATE accounts SET merged_into = (SELECT account_id FROM identities WHERE provider = 'apple')"
            + " WHERE account_id = (SELECT account_id FROM identities WHERE provider = 'facebook')",
        "UPDATE merges SET mac = NULL", "DELETE FROM merges",
    ])
    func `a factor of an account that no merge confirms completes no sign-in`(
        _ sql: String
    ) async throws {
        try await with { scene in
            var generator = SeededGenerator(seed: 9)
            let eve = try await scene.fixture.signIn(subject("facebook", "eve"))
            let enrolled = EnrolFactor(by: eve, &generator)
            _ = try await scene.fixture.submit(.enrolFactor(enrolled)).get()
            try await scene.database.asSuperuser.execute(sql)
            let before = try await scene.fixture.log().count
            for factor in [enrolled.factor.id, scene.bob.factor.id] {
                let answer = try? await scene.finish(Self.apple, factor, 60)
                #expect(answer == nil || answer == .failure(.invalidCode))
            }
            #expect(try await scene.fixture.log().count == before)
            #expect(try await scene.findings().isEmpty == false)
        }
    }
}
