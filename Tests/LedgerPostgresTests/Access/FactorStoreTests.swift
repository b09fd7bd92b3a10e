import Encodings
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// The rows of second factors: storage, uses of codes, and detection of changed rows.
@Suite struct FactorStoreTests {
    /// An account with an authenticator app.
    private struct Scene {
        let database: ScratchDatabase
        let fixture: SequencerFixture
        let store: PostgresCredentialStore
        let account: AccountID
        let enrolled: EnrolFactor

        /// Signs in with a factor; without a counter, with a wrong code.
        func finish(_ factor: FactorID, _ counter: Int64?) async throws -> Result<Reply, Refusal> {
            var generator = SeededGenerator(seed: .random(in: 0...(.max)))
            return try await fixture.submit(
                .signIn(
                    SignIn(
                        proof(subject("apple", "ada")), of: account, factor: factor,
                        counter: counter, &generator)))
        }

        /// Whether the holder's account shows that a removal is planned.
        func showsPlannedRemoval() async throws -> Bool {
            try await database.fold()
            let holder = Caller(account: account, session: enrolled.newSession)
            return try await `Account reads`.read(database) { reads in
                try await reads.linkedAccount(of: holder, in: .default).get().hasPlannedRemoval
            }
        }

        func rows() async throws -> [String] {
            try await database.asSuperuser.texts("SELECT f::text FROM factors f ORDER BY kind")
        }

        func findings() async throws -> [VerificationFinding] {
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let report = try await verifier.run()
            await verifier.close()
            return report.findings
        }
    }

    private func with(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, isProtected: true
            ) { fixture in
                let ada = try await fixture.signIn(subject("apple", "ada"))
                var generator = SeededGenerator(seed: 1)
                let enrolled = EnrolFactor(by: ada, &generator)
                _ = try await fixture.submit(.enrolFactor(enrolled)).get()
                let store = PostgresCredentialStore(
                    url: database.runtimeURL, keyring: SequencerFixture.strictKeyring,
                    onFault: { Issue.record("\($0)") })
                try await body(
                    Scene(
                        database: database, fixture: fixture, store: store, account: ada.account,
                        enrolled: enrolled))
                await store.close()
            }
        }
    }

    @Test func `factors are stored sealed, and read back`() async throws {
        try await with { scene in
            let stored = try await scene.store.factors(of: scene.account, in: .default)
            #expect(Set(stored.map(\.factor.kind)) == [.totp, .recoveryCodes])
            let app = try #require(stored.first { $0.factor.kind == .totp })
            #expect(app.secret == scene.enrolled.factor.secret)
            #expect(app.factor.id == scene.enrolled.factor.id)
            let secret = String(decoding: app.secret, as: UTF8.self)
            let dump = try await scene.rows().joined()
            #expect(!dump.contains(Hex.encode(Array(secret.utf8))))
            #expect(
                try await scene.store.factors(of: AccountID(bits: 1), in: .default).isEmpty)
            #expect(try await scene.findings() == [])
        }
    }

    @Test func `a code is written as used, and a refusal is not`() async throws {
        try await with { scene in
            let (app, codes) = (scene.enrolled.factor.id, scene.enrolled.recoveryCodes.id)
            let before = try await scene.rows()
            #expect(try await scene.finish(app, 41) == .failure(.invalidCode))
            #expect(try await scene.finish(app, nil) == .failure(.invalidCode))
            #expect(try await scene.rows() == before)
            _ = try await scene.finish(app, 42).get()
            #expect(try await scene.finish(app, 42) == .failure(.invalidCode))
            _ = try await scene.finish(codes, 9).get()
            #expect(try await scene.finish(codes, 9) == .failure(.invalidCode))
            _ = try await scene.finish(codes, 0).get()
            let counters = try await scene.database.asSuperuser.texts(
                "SELECT counter::text FROM factors ORDER BY kind DESC")
            #expect(counters == ["42", "513"])
            let stored = try await scene.store.factors(of: scene.account, in: .default)
            #expect(stored.first { $0.factor.kind == .recoveryCodes }?.factor.usedCodes == 513)
            #expect(try await scene.findings() == [])
        }
    }

    @Test func `a code that many try at once is used once`() async throws {
        try await with { scene in
            let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        if case .success = try await scene.finish(scene.enrolled.factor.id, 50) {
                            true
                        } else {
                            false
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 } == 1)
        }
    }

    @Test(arguments: [
        "counter = 40", "sealed = sealed || '\\x00'", "version = version - 1", "mac = NULL",
        "account_id = account_id, kind = 'recovery_codes'",
        "removal_due = now() - interval '1 day'",
    ])
    func `a changed row is used by no command, and verify finds it`(
        _ change: String
    ) async throws {
        try await with { scene in
            let factor = scene.enrolled.factor.id
            try await scene.database.asRuntime.execute(
                "UPDATE factors SET \(change) WHERE factor_id = '\(factor)'")
            let before = try await scene.fixture.log().count
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await scene.finish(factor, 60)
            }
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await scene.fixture.submit(
                    .removeFactor(RemoveFactor(factor, by: .planned(scene.account))))
            }
            #expect(try await scene.fixture.log().count == before)
            #expect(scene.fixture.reportedFaults.contains { $0.contains("factors.mac") })
            #expect(try await scene.findings().isEmpty == false)
        }
    }

    @Test(arguments: [
        "UPDATE accounts SET second_factors = NULL",
        "DELETE FROM factors WHERE kind = 'totp'",
        "UPDATE accounts SET second_factors = second_factors || gen_random_uuid()",
    ])
    func `a factor that was taken away is found`(_ sql: String) async throws {
        try await with { scene in
            try await scene.database.asRuntime.execute(sql)
            let findings = try await scene.findings()
            #expect(findings.contains { [.accounts, .factors].contains($0.check) }, "\(findings)")
        }
    }

    @Test func `an export tells which accounts have factors`() async throws {
        try await with { scene in
            _ = try await scene.fixture.signIn(subject("google", "bob"))
            let export = UserExport(
                url: scene.database.runtimeURL, keyring: SequencerFixture.strictKeyring, types: [:])
            let page = try await export.page(after: nil, in: .default)
            await export.close()
            #expect(page.count == 2)
            #expect(page.filter(\.hasSecondFactors).map(\.id) == [scene.account])
        }
    }

    @Test func `removed, replaced and erased factors leave no rows`() async throws {
        try await with { scene in
            var generator = SeededGenerator(seed: 2)
            let session = Caller(
                account: scene.account, session: scene.enrolled.newSession)
            let renewal = EnrolFactor(.recoveryCodes, by: session, &generator)
            _ = try await scene.fixture.submit(.enrolFactor(renewal)).get()
            let ids = try await scene.database.asSuperuser.texts(
                "SELECT factor_id::text FROM factors ORDER BY kind")
            #expect(ids == ["\(renewal.factor.id)", "\(scene.enrolled.factor.id)"])
            let other = EnrolFactor(by: session, &generator)
            _ = try await scene.fixture.submit(.enrolFactor(other)).get()
            _ = try await scene.fixture.submit(
                .removeFactor(RemoveFactor(scene.enrolled.factor.id, by: .accountHolder(session)))
            ).get()
            let listed = try await scene.database.asSuperuser.texts(
                "SELECT second_factors::text FROM accounts WHERE second_factors IS NOT NULL")
            #expect(listed == ["{\(other.factor.id)}"])
            #expect(try await scene.findings() == [])
            _ = try await scene.fixture.submit(
                .eraseAccount(
                    EraseAccount(
                        account: scene.account, basis: .dataSubjectRequest, actor: .system))
            ).get()
            #expect(try await scene.rows() == [])
            #expect(try await scene.findings() == [])
        }
    }

    @Test func `a planned removal is stored, found when it is due, and stopped`() async throws {
        try await with { scene in
            let factor = scene.enrolled.factor.id
            func change(_ change: PlanFactorRemoval.Change) async throws -> PlanFactorRemoval.Plan?
            {
                let result = try await scene.fixture.submit(
                    .planFactorRemoval(
                        PlanFactorRemoval(
                            change, of: factor, of: scene.account, actor: .system,
                            reason: "lost phone", caseReference: "5"))
                ).get()
                return PlanFactorRemoval.success(in: result)?.plan
            }
            #expect(try await !scene.showsPlannedRemoval())
            let due = try #require(try await change(.plan)?.due)
            #expect(try await scene.showsPlannedRemoval())
            let finder = DueRemovals(url: scene.database.runtimeURL)
            #expect(try await finder.find(.factor, at: due.adding(seconds: -1)).isEmpty)
            let found = try await finder.find(.factor, at: due)
            #expect(found.map(\.id) == [factor.bits] && found.map(\.account) == [scene.account])
            let stored = try await scene.store.factors(of: scene.account, in: .default)
            #expect(stored.first { $0.factor.id == factor }?.factor.removalDue == due)
            #expect(try await scene.findings() == [])
            // The clock of the database decides, not the finder.
            let early = RemoveFactor(factor, by: .planned(scene.account))
            #expect(
                try await scene.fixture.submit(.removeFactor(early)) == .failure(.unknownFactor))
            #expect(try await change(.stop)?.due == nil)
            #expect(try await !scene.showsPlannedRemoval())
            #expect(try await finder.find(.factor, at: due).isEmpty)
            #expect(try await scene.findings() == [])
            await finder.close()
        }
    }
}
