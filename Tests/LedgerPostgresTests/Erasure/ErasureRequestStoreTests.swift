import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// Requests for erasures in the database: written under the head's lock with a MAC, and gone with the account.
@Suite struct ErasureRequestStoreTests {
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.eraseNeedsTwo = true
        return policy
    }()

    private static let sam = Principal(staff: StaffID(bits: 1), role: .admin)
    private static let kim = Principal(key: APIKeyID(bits: 2), role: .admin)

    private struct Scene {
        let database: ScratchDatabase
        let fixture: SequencerFixture
        let ada: AccountID

        var agreed: EraseAccount.Agreement {
            let plan = ErasurePlan(account: ada, survivor: ada, covers: [ada], holds: [])
            return .plan(sha256(plan.bytes), sha256)
        }

        func ask(
            _ number: UInt128, by principal: Principal, _ fixture: SequencerFixture? = nil
        ) async throws -> Result<Reply, Refusal> {
            try await send(
                .ask(ErasureRequestID(bits: number), reason: "case 1", sha256), by: principal,
                fixture)
        }

        func confirm(
            _ number: UInt128, by principal: Principal, _ fixture: SequencerFixture? = nil
        ) async throws -> Result<Reply, Refusal> {
            try await send(.confirm(ErasureRequestID(bits: number)), by: principal, fixture)
        }

        func send(
            _ step: EraseAccount.Step, by principal: Principal, _ other: SequencerFixture?
        ) async throws -> Result<Reply, Refusal> {
            try await (other ?? fixture).submit(
                .eraseAccount(
                    EraseAccount(
                        account: ada, basis: .retention, agreement: agreed, step: step,
                        actor: .principal(principal))))
        }

        func stored() async throws -> [String] {
            try await database.asSuperuser.texts("SELECT principal FROM erasure_requests")
        }

        /// The request for the account.
        func request() async throws -> ErasureRequest? {
            let reads = HoldReads(url: database.runtimeURL) { Issue.record("\($0)") }
            let request = try await reads.erasureRequest(for: ada, in: .default)
            await reads.close()
            return request
        }

        func erasures() async throws -> Int {
            try await fixture.log().count { $0.recorded.event.erasedAccount != nil }
        }
    }

    private func with(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                _ = try await fixture.submit(
                    .setRules(SetRules(Self.policy, condition: .noneRecorded))
                ).get()
                let ada = try await fixture.signIn(subject("apple", "ada")).account
                try await body(Scene(database: database, fixture: fixture, ada: ada))
            }
        }
    }

    @Test func `a request is stored, listed and gone with the account`() async throws {
        try await with { scene in
            _ = try await scene.ask(11, by: Self.sam).get()
            #expect(try await scene.stored() == [Self.sam.description])
            let reads = HoldReads(url: scene.database.runtimeURL) { Issue.record("\($0)") }
            let page = try await reads.erasureRequests(after: nil, limit: 1, in: .default)
            let request = try #require(page.requests.first)
            #expect(request.asker == Self.sam && request.reason == "case 1" && !page.hasMore)
            #expect(try await reads.erasureRequest(for: scene.ada, in: .default) == request)
            #expect(
                try await reads.erasureRequests(after: scene.ada, limit: 1, in: .default)
                    .requests.isEmpty)
            #expect(
                try await scene.confirm(11, by: Self.sam)
                    == .failure(.secondAdministratorRequired))
            _ = try await scene.confirm(11, by: Self.kim).get()
            #expect(try await scene.stored() == [])
            #expect(try await scene.erasures() == 1)
            #expect(try await reads.erasureRequest(for: scene.ada, in: .default) == nil)
            await reads.close()
        }
    }

    @Test func `a request ends with the key that asked for it, and those of others stay`()
        async throws
    {
        try await with { scene in
            let (lee, max) = (APIKeyID(bits: 21), APIKeyID(bits: 22))
            _ = try await scene.ask(11, by: Principal(key: lee, role: .admin)).get()
            let owner = Session(url: scene.database.ownerURL, applicationName: "test")
            func revoke(_ key: APIKeyID) async throws {
                try await owner.run { connection in
                    let keys = APIKeyStore(on: connection)
                    try keys.add(
                        StoredAPIKey(
                            id: key, role: .admin, secretDigest: .zero, label: "a",
                            createdAt: Timestamp(seconds: 1), expiresAt: nil, revokedAt: nil),
                        to: .default, macKey: SequencerFixture.macKey)
                    _ = try keys.revoke(key, of: .default)
                }
            }
            try await revoke(max)
            #expect(try await scene.stored().count == 1)
            try await revoke(lee)
            #expect(try await scene.stored() == [])
            #expect(try await scene.confirm(11, by: Self.kim) == .failure(.unknownErasureRequest))
            await owner.close()
        }
    }

    @Test func `two processes at once count one person once`() async throws {
        try await with { scene in
            try await SequencerFixture.with(
                scene.database, policy: Self.policy, isProtected: true, opensLedger: false
            ) { other in
                for round in 0..<20 as Range<UInt128> {
                    async let here = scene.ask(100 + round, by: Self.sam)
                    async let there = scene.ask(200 + round, by: Self.sam, other)
                    let asked = try await [here, there].map { try $0.get() }
                    guard case .erasureAsked(let request) = asked[0] else {
                        Issue.record("\(asked)")
                        return
                    }
                    #expect(asked[1] == asked[0], "there is one request")
                    let id = request.id.bits
                    async let first = scene.confirm(id, by: Self.sam)
                    async let second = scene.confirm(id, by: Self.sam, other)
                    let confirmed = try await [first, second]
                    #expect(
                        confirmed.allSatisfy { $0 == .failure(.secondAdministratorRequired) })
                }
                #expect(try await scene.erasures() == 0)
                // Two others at once erase once.
                let id = try #require(try await scene.request()).id.bits
                let lee = Principal(key: APIKeyID(bits: 3), role: .admin)
                async let first = scene.confirm(id, by: Self.kim)
                async let second = scene.confirm(id, by: lee, other)
                _ = try await [first, second].map { try $0.get() }
                #expect(try await scene.erasures() == 1)
            }
        }
    }

    @Test func `a withdrawal and a confirmation at once do not both happen`() async throws {
        try await with { scene in
            try await SequencerFixture.with(
                scene.database, policy: Self.policy, isProtected: true, opensLedger: false
            ) { other in
                _ = try await scene.ask(11, by: Self.sam).get()
                let withdraw = EraseAccount.Withdrawal(
                    ErasureRequestID(bits: 11), of: scene.ada, actor: .principal(Self.sam))
                async let confirmed = scene.confirm(11, by: Self.kim)
                async let withdrawn = other.submit(withdraw.intent)
                let results = try await [confirmed, withdrawn]
                let done = results.filter { if case .success = $0 { true } else { false } }
                #expect(done.count == 1, "\(results)")
                #expect(try await scene.stored() == [])
            }
        }
    }

    @Test(arguments: [
        "UPDATE erasure_requests SET principal = 'staff:0190a1b2-c3d4-7000-8000-000000000001'",
        """
        INSERT INTO erasure_requests (tenant_id, account_id, request_id, principal, plan, basis,
            reason, asked_at, expires_at, mac)
        SELECT tenant_id, account_id, request_id, 'staff:0190a1b2-c3d4-7000-8000-000000000001', plan,
            basis, reason, asked_at, expires_at, NULL
        FROM erasure_requests
        ON CONFLICT (tenant_id, account_id) DO UPDATE
        SET principal = excluded.principal, mac = NULL
        """,
        "UPDATE erasure_requests SET expires_at = expires_at + interval '1 day'",
    ])
    func `the database login alone makes no first person up`(_ forgery: String) async throws {
        try await with { scene in
            _ = try await scene.ask(11, by: Self.kim).get()
            try await scene.database.asRuntime.execute(forgery)
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await scene.confirm(11, by: Self.kim)
            }
            #expect(try await scene.erasures() == 0)
            #expect(
                scene.fixture.reportedFaults.contains { $0.contains("erasure_requests.mac") })
            let verifier = Verifier(
                url: scene.database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.findings.contains { $0.check == .erasureRequests })
        }
    }

    @Test func `a request is swept an hour after its end`() async throws {
        try await with { scene in
            _ = try await scene.ask(11, by: Self.sam).get()
            let sweeper = Sweeper(url: scene.database.runtimeURL) { _ in }
            func pass(hours: Int) async throws {
                try await scene.database.asSuperuser.execute(
                    "UPDATE erasure_requests SET expires_at = expires_at - interval '\(hours) h'")
            }
            try await pass(hours: 24)
            #expect(try await sweeper.sweep() == 0)
            try await pass(hours: 1)
            #expect(try await sweeper.sweep() == 1)
            #expect(try await scene.stored() == [])
        }
    }
}
