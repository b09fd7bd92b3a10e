import Foundation
import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// Claimed addresses in the database: their rows, MACs and races.
@Suite struct ClaimStoreTests {
    private static let ada = "ada@example.com"
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.reauthenticationSeconds = .max / 2_000_000
        return policy
    }()

    /// Calls a body with two sequencers of one ledger, and verifies the ledger afterwards.
    private func with(
        _ body:
            @Sendable (ScratchDatabase, SequencerFixture, SequencerFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                _ = try await fixture.submit(
                    .setRules(SetRules(Self.policy, condition: .noneRecorded))
                ).get()
                try await SequencerFixture.with(
                    database, policy: Self.policy, isProtected: true, opensLedger: false
                ) { try await body(database, fixture, $0) }
            }
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
        }
    }

    private func claim(_ seed: UInt64) -> SignIn {
        var generator = SeededGenerator(seed: seed)
        let proof = passwordProof(
            Self.ada, new: generator.id(), hash: "hash \(seed)", isClaim: true)
        return SignIn(proof, &generator)
    }

    private func code(_ seed: UInt64) -> SignIn {
        var generator = SeededGenerator(seed: seed)
        return SignIn(address: Self.ada, &generator)
    }

    private func caller(_ result: Result<Reply, Refusal>) throws -> Caller {
        guard case .success(.signedIn(let grant, _)) = result else {
            throw ModelLedger.Unexpected(result: result)
        }
        return Caller(account: grant.account, session: grant.session)
    }

    /// Stores a challenge, as if a code had been sent.
    private func open(
        _ challenge: ChallengeID, _ database: ScratchDatabase, digest: String = "sha256('a')"
    ) async throws {
        try await database.asSuperuser.execute(
            """
            INSERT INTO challenges (tenant_id, challenge_id, provider, digest, code_digest,
                key_id, sealed, wrapping_key, expires_at)
            VALUES ('default', '\(challenge)', 'password', \(digest), sha256('b'), 'key', '', 'key',
                now() + interval '10 min')
            """)
    }

    /// The proof of a code together with the present password, as the store has it.
    private func confirmation(
        _ database: ScratchDatabase, _ challenge: ChallengeID, _ seed: UInt64
    ) async throws -> SignIn {
        let store = PostgresCredentialStore(
            url: database.runtimeURL, keyring: SequencerFixture.strictKeyring,
            onFault: { Issue.record("\($0)") })
        let names = code(seed).proof.address?.names ?? []
        let stored = try #require(
            try await store.password(of: names, at: RandomCommands.password, in: .default))
        #expect(stored.isClaimed)
        #expect(
            try await !store.isUsed(names, at: [RandomCommands.password], in: .default))
        await store.close()
        var generator = SeededGenerator(seed: seed)
        return SignIn(
            passwordProof(
                Self.ada, new: generator.id(), stored.version, challenge: challenge), &generator)
    }

    private func rows(_ database: ScratchDatabase) async throws -> [String] {
        try await database.asSuperuser.texts(
            "SELECT account_id || ' ' || claimed::text FROM addresses")
    }

    @Test func `a claim is confirmed in its row`() async throws {
        try await with { database, fixture, _ in
            let ada = try caller(try await fixture.submit(.signIn(claim(1))))
            #expect(try await rows(database) == ["\(ada.account) true"])
            let challenge = ChallengeID(bits: 7)
            try await open(challenge, database)
            let command = try await confirmation(database, challenge, 2)
            #expect(try caller(try await fixture.submit(.signIn(command))).account == ada.account)
            #expect(try await rows(database) == ["\(ada.account) false"])
        }
    }

    @Test func `the holder's factors and challenges end with a claim that is all it has`()
        async throws
    {
        try await with { database, fixture, other in
            let mallory = try caller(try await fixture.submit(.signIn(claim(1))))
            var generator = SeededGenerator(seed: 5)
            _ = try await fixture.submit(
                .enrolFactor(EnrolFactor(by: mallory, &generator))
            ).get()
            #expect(try await database.rows("kind]) FROM factors").count == 2)
            try await open(ChallengeID(bits: 9), to: database)
            let ada = try caller(try await other.submit(.signIn(code(2))))
            #expect(ada.account == mallory.account)
            #expect(try await database.rows("kind]) FROM factors") == [])
            #expect(try await database.rows("identity_id::text]) FROM credentials") == [])
            #expect(try await database.rows("challenge_id::text]) FROM challenges") == [])
            #expect(try await rows(database) == ["\(ada.account) false"])
        }
    }

    /// Stores a challenge for Ada's address, as if a code had been sent there.
    private func open(_ challenge: ChallengeID, to database: ScratchDatabase) async throws {
        let digest = try #require(code(2).proof.address?.names.first?.digest)
        let hex = digest.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try await open(challenge, database, digest: "'\\x\(hex)'")
    }

    /// Enrols and removes a second factor, disables the account, and returns after each how many codes have not ended.
    private func openCodes(
        after opening: SignIn, _ database: ScratchDatabase, _ fixture: SequencerFixture
    ) async throws -> [Int] {
        let holder = try caller(try await fixture.submit(.signIn(opening)))
        try await open(ChallengeID(bits: 9), to: database)
        var generator = SeededGenerator(seed: 5)
        let enrolment = EnrolFactor(by: holder, &generator)
        let session = Caller(account: holder.account, session: enrolment.newSession)
        let commands: [Command.Intent] = [
            .enrolFactor(enrolment),
            .removeFactor(RemoveFactor(enrolment.factor.id, by: .accountHolder(session))),
            .changeAccess(
                ChangeAccess(
                    .disable, of: holder.account, actor: .system, reason: "r", caseReference: "1")),
        ]
        var counts: [Int] = []
        for command in commands {
            _ = try await fixture.submit(command).get()
            counts.append(try await database.rows("challenge_id::text]) FROM challenges").count)
        }
        return counts
    }

    @Test func `nothing that the claiming account does ends the codes of the address`()
        async throws
    {
        try await with { database, fixture, _ in
            let counts = try await openCodes(after: claim(1), database, fixture)
            #expect(counts == [1, 1, 1])
        }
    }

    @Test func `a change of factors ends no codes, and disabling an account does`() async throws {
        try await with { database, fixture, _ in
            let counts = try await openCodes(after: code(2), database, fixture)
            #expect(counts == [1, 1, 0])
        }
    }

    @Test func `the holder's other addresses end with a claim that is all it has`() async throws {
        try await with { database, fixture, other in
            var generator = SeededGenerator(seed: 6)
            let opened = SignIn(address: "mallory@example.com", &generator)
            let mallory = try caller(try await fixture.submit(.signIn(opened)))
            let link = LinkProvider(
                caller: mallory,
                credential: Credential(
                    provider: RandomCommands.password, digest: digest(generator.bytes(32)),
                    check: .success(claim(1).proof)),
                idempotency: nil, newIdentity: generator.id())
            _ = try await fixture.submit(.linkProvider(link)).get()
            let unlink = UnlinkProvider(
                caller: mallory, provider: RandomCommands.email, identity: nil, idempotency: nil)
            _ = try await fixture.submit(.unlinkProvider(unlink)).get()
            #expect(try await rows(database).count == 2)
            let ada = try caller(try await other.submit(.signIn(code(2))))
            #expect(ada.account == mallory.account)
            #expect(try await rows(database) == ["\(ada.account) false"])
        }
    }

    @Test func `the new holder is not shown the addresses of the former holder's clients`()
        async throws
    {
        try await with { database, fixture, _ in
            let mallory = try caller(try await fixture.submit(.signIn(claim(1))))
            let ada = try caller(try await fixture.submit(.signIn(code(2))))
            #expect(ada.account == mallory.account)
            try await database.fold()
            let reads = ActivityReads(
                url: database.runtimeURL, macs: SequencerFixture.strictKeyring.macs
            ) { Issue.record("\($0)") }
            let page = try #require(
                try await reads.activity(
                    of: ada.account, before: nil, limit: 100, in: .default))
            await reads.close()
            let signIns = page.rows.filter { $0.kind == .signedIn }
            #expect(signIns.map(\.clientIP) == ["203.0.113.7", nil])
            #expect(page.rows.last?.kind == .opened && page.rows.last?.clientIP == nil)
        }
    }

    @Test func `an upgrade finds the accounts that were handed over`() async throws {
        try await with { database, fixture, other in
            let mallory = try caller(try await fixture.submit(.signIn(claim(1))))
            let ada = try caller(try await other.submit(.signIn(code(2))))
            #expect(ada.account == mallory.account)
            let handedOver = "handed_over_position::text]) FROM accounts"
            let written = try await database.rows(handedOver)
            #expect(written.count == 1 && written.first.flatMap { Int64($0) } != nil)
            let script = try #require(Migration.embedded.first { $0.version == 42 }).sql
            let update = try #require(script.range(of: "UPDATE accounts"))
            try await database.asSuperuser.execute(
                "UPDATE accounts SET handed_over_position = NULL; \(script[update.lowerBound...])")
            #expect(try await database.rows(handedOver) == written)
        }
    }

    @Test func `an export tells a claim from a proof`() async throws {
        try await with { database, fixture, _ in
            let export = UserExport(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring,
                types: [RandomCommands.password: .password, RandomCommands.email: .email])
            _ = try await fixture.submit(.signIn(claim(1))).get()
            for isProved in [false, true] {
                if isProved { _ = try await fixture.submit(.signIn(code(2))).get() }
                let identities = try await export.page(after: nil, in: .default).flatMap(
                    \.identities)
                #expect(identities.map(\.address) == [Self.ada])
                #expect(identities.map(\.isAddressVerified) == [isProved])
            }
            await export.close()
        }
    }

    @Test func `of twenty claims of one address at once, one opens an account`() async throws {
        try await with { database, fixture, other in
            let results = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let result = try await (number.isMultiple(of: 2) ? fixture : other)
                            .submit(.signIn(claim(UInt64(100 + number))))
                        if case .failure(let refusal) = result {
                            #expect(refusal == .providerConflict(.heldByOther))
                        }
                        return (try? result.get()) != nil
                    }
                }
                return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
            }
            #expect(results == 1)
            #expect(try await rows(database).count == 1)
        }
    }

    @Test func `a claim beside a proof of its address never keeps it`() async throws {
        try await with { database, fixture, other in
            async let claimed = fixture.submit(.signIn(claim(1)))
            async let proved = other.submit(.signIn(code(2)))
            let (claim, proof) = try await (claimed, proved)
            let ada = try caller(proof)
            #expect(try await rows(database) == ["\(ada.account) false"])
            // The claim came first and was taken over, or was refused.
            if let mallory = try? caller(claim) {
                #expect(mallory.account == ada.account)
            } else {
                #expect(claim == .failure(.providerConflict(.heldByOther)))
            }
            let live = try await database.rows(
                "session_id::text]) FROM sessions WHERE ended_position IS NULL")
            #expect(live == ["\(ada.session)"])
        }
    }

    @Test func `of a confirmation and another person's proof at once, the first one counts`()
        async throws
    {
        try await with { database, fixture, other in
            let holder = try caller(try await fixture.submit(.signIn(claim(1))))
            let challenge = ChallengeID(bits: 7)
            try await open(challenge, database)
            let own = try await confirmation(database, challenge, 3)
            async let confirmed = fixture.submit(.signIn(own))
            async let proved = other.submit(.signIn(code(2)))
            let (confirmation, proof) = try await (confirmed, proved)
            if case .success = confirmation {
                // The address is the holder's, so the code of another provider opens nothing.
                #expect(proof == .failure(.accountNotFound))
            } else {
                #expect(confirmation == .failure(.invalidCode))
                #expect(try caller(proof).account == holder.account)
            }
            #expect(try await rows(database) == ["\(holder.account) false"])
        }
    }

    @Test func `a row that makes a claim a confirmed address is refused`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                _ = try await fixture.submit(.signIn(claim(1))).get()
                try await database.asSuperuser.execute("UPDATE addresses SET claimed = false")
                await #expect(throws: LedgerFault.internalFailure) {
                    try await fixture.submit(.signIn(code(2)))
                }
                let verifier = Verifier(url: database.runtimeURL, keyring: nil)
                let report = try await verifier.run()
                await verifier.close()
                #expect(!report.holds)
            }
        }
    }
}
