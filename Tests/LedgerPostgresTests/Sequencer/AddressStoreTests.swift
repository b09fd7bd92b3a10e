import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

/// Addresses in the database: their rows, MACs and races.
@Suite struct AddressStoreTests {
    private static let policy: TenantPolicy = {
        var policy = RandomCommands.policy(hasEveryType: true)
        policy.reauthenticationSeconds = .max / 2_000_000
        return policy
    }()

    private func with(
        _ body: @Sendable (ScratchDatabase, SequencerFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { try await body(database, $0) }
            let verifier = Verifier(
                url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds && !report.isSearched, "\(report.findings)")
        }
    }

    private func signIn(
        _ fixture: SequencerFixture, _ address: String, _ generator: inout SeededGenerator
    ) async throws -> Caller {
        let result = try await fixture.submit(
            .signIn(SignIn(address: address, &generator)))
        guard case .success(.signedIn(let grant, _)) = result else {
            throw ModelLedger.Unexpected(result: result)
        }
        return Caller(account: grant.account, session: grant.session)
    }

    @Test func `an address returns to its account, and to another one after it was given up`()
        async throws
    {
        try await with { database, fixture in
            var generator = SeededGenerator(seed: 1)
            let ada = try await signIn(fixture, "ada@example.com", &generator)
            #expect(
                try await signIn(fixture, "ada@example.com", &generator).account == ada.account)
            let link = LinkProvider(
                caller: ada, credential: Credential(subject("google", "ada"), digest: .zero),
                idempotency: nil, newIdentity: generator.id())
            _ = try await fixture.submit(.linkProvider(link)).get()
            let unlink = UnlinkProvider(
                caller: ada, provider: RandomCommands.email, identity: nil, idempotency: nil)
            _ = try await fixture.submit(.unlinkProvider(unlink)).get()
            let next = try await signIn(fixture, "ada@example.com", &generator)
            #expect(next.account != ada.account)
            #expect(
                try await database.rows("account_id::text]) FROM addresses")
                    == ["\(next.account)"])
        }
    }

    @Test func `two sequencers open one account for one address`() async throws {
        try await with { database, fixture in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true, opensLedger: false
            ) { other in
                try await withThrowingTaskGroup(of: AccountID.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            var generator = SeededGenerator(seed: UInt64(100 + number))
                            return try await signIn(
                                number.isMultiple(of: 2) ? fixture : other, "ada@example.com",
                                &generator
                            ).account
                        }
                    }
                    var accounts: Set<AccountID> = []
                    for try await account in group { accounts.insert(account) }
                    #expect(accounts.count == 1)
                }
            }
        }
    }

    @Test func `two sequencers use a challenge once`() async throws {
        try await with { database, fixture in
            let challenge = ChallengeID(bits: 7)
            try await database.asSuperuser.execute(
                """
                INSERT INTO challenges (tenant_id, challenge_id, provider, digest, code_digest,
                    key_id, sealed, wrapping_key, expires_at)
                VALUES ('default', '\(challenge)', 'email', sha256('a'), sha256('b'), 'key', '', 'key',
                    now() + interval '10 min')
                """)
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true, opensLedger: false
            ) { other in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<20 {
                        group.addTask {
                            var generator = SeededGenerator(seed: UInt64(200 + number))
                            let command = SignIn(
                                address: "ada@example.com", challenge: challenge, &generator)
                            let result = try await (number.isMultiple(of: 2) ? fixture : other)
                                .submit(.signIn(command))
                            if case .failure(let refusal) = result {
                                #expect(refusal == .invalidCode)
                            }
                            return (try? result.get()) != nil
                        }
                    }
                    var count = 0
                    for try await isIn in group where isIn { count += 1 }
                    #expect(count == 1)
                }
            }
        }
    }

    @Test(arguments: [
        "account_id = gen_random_uuid()", "former_of = gen_random_uuid()",
        "claimed = true", "kept_until = '2099-01-01'",
        "former_of = gen_random_uuid(), kept_until = '2000-01-01'",
    ])
    func `a row that gives an address away is refused`(change: String) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                var generator = SeededGenerator(seed: 1)
                _ = try await signIn(fixture, "ada@example.com", &generator)
                try await database.asSuperuser.execute("UPDATE addresses SET \(change)")
                let command = SignIn(address: "ada@example.com", &generator)
                await #expect(throws: LedgerFault.internalFailure) {
                    try await fixture.submit(.signIn(command))
                }
                // Its neighbours go through.
                _ = try await fixture.signIn(subject("google", "other"))
            }
        }
    }

    @Test func `neither an address nor a mailbox stands in the dump of a database`() async throws {
        try await with { database, fixture in
            var generator = SeededGenerator(seed: 1)
            _ = try await signIn(fixture, "ada@example.com", &generator)
            let tables = try await database.rows(
                "relname]) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
            for table in tables {
                let found = try await database.asSuperuser.texts(
                    "SELECT t::text FROM \(table) t WHERE t::text LIKE '%ada@%'")
                #expect(found == [], "\(table)")
            }
        }
    }
}
