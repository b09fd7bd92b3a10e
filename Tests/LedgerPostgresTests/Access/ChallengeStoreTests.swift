import BlockingCalls
import Cryptography
import Ledger
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Postgres
import Synchronization
import Testing

@testable import LedgerPostgres

/// Challenges in the database: counts, races and what a dump reveals.
@Suite struct ChallengeStoreTests {
    /// Records messages instead of writing them.
    private final class Outbox: CodeOutbox {
        struct Full: Error {}
        private let messages = Mutex<[CodeMessage]>([])
        private let isFull = Mutex(false)

        var codes: [String] { messages.withLock { $0.map(\.code) } }

        func committed() {}

        func fill() { isFull.withLock { $0 = true } }

        func write(
            _ message: CodeMessage, for challenge: StoredChallenge, on connection: Connection
        ) throws {
            if isFull.withLock(\.self) { throw Full() }
            messages.withLock { $0.append(message) }
        }
    }

    private static let email = RandomCommands.email
    private static let now = Timestamp(seconds: 4_000_000_000)

    private func with(
        _ body: @Sendable (ScratchDatabase, AddressCodes, Outbox) async throws -> Void
    ) async throws {
        try await withTwo { database, codes, _, outbox in try await body(database, codes, outbox) }
    }

    /// Calls a body with the services of two processes.
    private func withTwo(
        _ body: @Sendable (ScratchDatabase, AddressCodes, AddressCodes, Outbox) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            let outbox = Outbox()
            let stores = (0..<2).map { _ in
                PostgresChallengeStore(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring, outbox: outbox,
                    onFault: { _ in })
            }
            let keys = ["key": SymmetricKey.generate()]
            let codes = stores.map {
                AddressCodes(
                    current: "key", keys: keys, store: $0, textsMax: { _ in 1_000 },
                    random: { SecureRandom.uint128() })
            }
            try await body(database, codes[0], codes[1], outbox)
            for store in stores { await store.close() }
        }
    }

    private func send(
        _ codes: AddressCodes, _ address: String = "ada@example.com", from network: String = "n",
        as id: ChallengeID? = nil, at now: Timestamp = now
    ) async throws -> ChallengeID {
        try await codes.send(
            to: address, .email, of: Self.email, in: .default, for: .signIn, as: id,
            from: network, language: nil, at: now)
    }

    /// Returns the refusal of a code; nil when it proves the address.
    private func refusal(
        _ codes: AddressCodes, _ id: ChallengeID, _ code: String, from network: String = "n",
        in tenant: TenantID = .default
    ) async throws -> Credential.Flaw? {
        let provider = ProviderConfiguration(
            name: Self.email, settings: .code(CodeSettings(kind: .email)))
        let ledger = InMemoryLedger(policy: { _ in nil }, now: { Self.now })
        let passwords = PasswordChecks(
            hasher: PasswordHasher(), pool: BlockingPool(label: "none", threads: 1, waitingMax: 0),
            store: ledger, codes: codes, localParts: { _ in .ascii })
        let client = CodeClient(
            codes: codes, passwords: passwords,
            passkeys: PasskeyChecks(
                store: ledger, key: .generate(), onCounterFault: { _, _, _ in }),
            flows: BrowserFlows(key: .generate()), network: network,
            caller: nil, newID: { SecureRandom.uint128() })
        do throws(Credential.Flaw) {
            let proof = try await provider.prove(
                .code(CodeBody(challenge: id.description, code: code)), in: tenant,
                for: .signIn(tenant, singleUse: nil), by: client, at: Self.now)
            #expect(proof.challenge == id)
            return nil
        } catch {
            return error
        }
    }

    private func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

    @Test func `exactly five codes are compared, however many are tried at once`() async throws {
        try await withTwo { database, codes, others, outbox in
            let id = try await send(codes)
            let code = try #require(outbox.codes.first)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let refused = try await refusal(
                            number % 2 == 0 ? codes : others, id, wrong(code),
                            from: "network \(number)")
                        #expect(refused == .wrongCode)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await database.rows("tries::text]) FROM challenges") == ["5"])
            #expect(try await refusal(codes, id, code) == .wrongCode)
        }
    }

    @Test func `the wrong codes for an address are counted exactly, however many come at once`()
        async throws
    {
        try await withTwo { database, codes, others, outbox in
            var ids: [ChallengeID] = []
            for number in 0..<4 { ids.append(try await send(codes, from: "sender \(number)")) }
            let refusals = try await withThrowingTaskGroup(of: Credential.Flaw?.self) { group in
                for (number, id) in ids.enumerated() {
                    for count in 0..<StoredChallenge.triesMax {
                        group.addTask {
                            try await refusal(
                                count % 2 == 0 ? codes : others, id, wrong(outbox.codes[number]))
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(refusals.count { $0 == .wrongCode } == AddressCodes.triesPerNetwork)
            #expect(!refusals.contains(nil))
            let counts = try await database.rows("max(count)::text]) FROM code_counts")
            #expect(counts == ["\(AddressCodes.triesPerNetwork)"])
        }
    }

    @Test func `many people use their codes at once`() async throws {
        try await withTwo { database, codes, others, outbox in
            var ids: [ChallengeID] = []
            for number in 0..<100 {
                ids.append(
                    try await send(codes, "person-\(number)@example.com", from: "\(number)"))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, id) in ids.enumerated() {
                    group.addTask {
                        let refused = try await refusal(
                            number % 2 == 0 ? codes : others, id, outbox.codes[number],
                            from: "\(number)")
                        #expect(refused == nil)
                    }
                }
                try await group.waitForAll()
            }
            let counts = try await database.rows(
                "count(*)::text, sum(count)::text]) FROM code_counts")
            #expect(counts == ["200|200"], "two counts of each code that was sent")
            #expect(try await database.rows("sum(tries)::text]) FROM challenges") == ["100"])
        }
    }

    @Test func `a try of a locked challenge has no outcome yet`() async throws {
        try await with { database, codes, _ in
            let id = try await send(codes)
            let tries = [
                ChallengeTry(challenge: id, tenant: .default, now: Self.now) { _ in
                    ComparedCode(isRight: true, counts: [])
                }
            ]
            let locker = try Connection(url: database.runtimeURL, applicationName: "test")
            let counter = try Connection(url: database.runtimeURL, applicationName: "test")
            func outcome() throws -> ChallengeTry.Outcome? {
                try ChallengeTry.count(tries, keyring: SequencerFixture.keyring, on: counter)[0]
            }
            try locker.execute("BEGIN; SELECT FROM challenges FOR UPDATE")
            let locked = try outcome()
            #expect(locked == nil)
            try locker.execute("COMMIT")
            guard case .right = try outcome()?.tried else {
                Issue.record("the code is not right")
                return
            }
            locker.close()
            counter.close()
        }
    }

    @Test func `a right code is not counted against its address`() async throws {
        try await with { database, codes, outbox in
            let id = try await send(codes)
            let refused = try await refusal(codes, id, outbox.codes[0])
            #expect(refused == nil)
            #expect(
                try await database.rows("count::text]) FROM code_counts ORDER BY count")
                    == ["1", "1"], "of the code that was sent")
        }
    }

    @Test func `a code that is right at its first try is no longer unanswered, and lowers once`()
        async throws
    {
        try await with { database, codes, outbox in
            func counted() async throws -> [String] {
                try await database.rows("sum(count)::text]) FROM code_counts")
            }
            var ids: [ChallengeID] = []
            for number in ["+4915123456781", "+4915123456782"] {
                ids.append(
                    try await codes.send(
                        to: number, .phone, of: Self.email, in: .default, for: .signIn,
                        from: "n", language: nil, at: Self.now))
            }
            #expect(try await counted() == ["8"], "four counts of each code that was sent")
            for _ in 0..<2 {
                let refused = try await refusal(codes, ids[0], outbox.codes[0])
                #expect(refused == nil)
                #expect(try await counted() == ["7"])
            }
            let refused = try await refusal(codes, ids[1], wrong(outbox.codes[1]))
            #expect(refused == .wrongCode)
            #expect(try await refusal(codes, ids[1], outbox.codes[1]) == nil)
            #expect(try await counted() == ["9"], "and two of the wrong one")
        }
    }

    @Test func `no code is right while too many wrong ones have been tried`() async throws {
        try await with { database, codes, outbox in
            var ids: [ChallengeID] = []
            for number in 0..<3 { ids.append(try await send(codes, from: "sender \(number)")) }
            for _ in 0..<AddressCodes.triesPerNetwork / 2 {
                for number in 0..<2 {
                    let refused = try await refusal(codes, ids[number], wrong(outbox.codes[number]))
                    #expect(refused == .wrongCode)
                }
            }
            guard case .limited = try await refusal(codes, ids[2], outbox.codes[2]) else {
                Issue.record("the code is not limited")
                return
            }
            #expect(try await refusal(codes, ids[2], outbox.codes[2], from: "other") == nil)
        }
    }

    @Test func `an address and a network get a number of codes an hour`() async throws {
        try await with { database, codes, outbox in
            for _ in 0..<AddressCodes.sendsPerAddress { _ = try await send(codes) }
            await #expect(throws: CodeFailure.self) { _ = try await send(codes) }
            for number in AddressCodes.sendsPerAddress..<AddressCodes.sendsPerNetwork {
                _ = try await send(codes, "person-\(number)@example.com")
            }
            await #expect(throws: CodeFailure.self) { _ = try await send(codes, "x@example.com") }
            _ = try await send(codes, "x@example.com", from: "other")
            _ = try await send(codes, at: Self.now.adding(seconds: CodeCount.windowSeconds))
            let count = AddressCodes.sendsPerNetwork + 2
            #expect(outbox.codes.count == count)
            #expect(try await database.rows("count(*)::text]) FROM challenges") == ["\(count)"])
        }
    }

    @Test func `a request that is repeated at once sends one code, and another once it has ended`()
        async throws
    {
        try await withTwo { _, here, there, outbox in
            let id = ChallengeID(bits: 7)
            try await withThrowingTaskGroup(of: ChallengeID.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        try await self.send(number.isMultiple(of: 2) ? here : there, as: id)
                    }
                }
                for try await sent in group { #expect(sent == id) }
            }
            #expect(outbox.codes.count == 1)
            let later = Self.now.adding(seconds: StoredChallenge.lifetimeSeconds)
            #expect(try await send(there, as: id, at: later) == id)
            #expect(outbox.codes.count == 2)
            // The repetitions are not counted.
            for _ in 0..<3 { _ = try await send(here, at: later) }
        }
    }

    @Test func `each count has its own window`() async throws {
        try await ScratchDatabase.with { database in
            let store = PostgresChallengeStore(
                url: database.runtimeURL, keyring: SequencerFixture.keyring, outbox: Outbox(),
                onFault: { Issue.record("\($0)") })
            let quarter: Int64 = 90 * 86_400
            let short = CodeCount(scope: sha256(Array("short".utf8)), limit: 1)
            let long = CodeCount(
                scope: sha256(Array("long".utf8)), limit: 1, windowSeconds: quarter)
            var waits: [Int64?] = []
            for (counts, seconds) in [
                ([short, long], 0), ([short], 1), ([short], 3_600), ([long], 3_600),
                ([long], quarter),
            ] {
                waits.append(
                    try await store.count(
                        counts, in: .default, at: Self.now.adding(seconds: seconds))?
                        .waitSeconds)
            }
            #expect(waits == [nil, 3_599, nil, quarter - 3_600, nil])
            await store.close()
        }
    }

    @Test func `no challenge is stored without its message`() async throws {
        try await with { database, codes, outbox in
            outbox.fill()
            await #expect(throws: CodeFailure.self) { _ = try await send(codes) }
            for table in ["challenges", "code_counts"] {
                let counted = try await database.rows("count(*)::text]) FROM \(table)")
                #expect(counted == ["0"])
            }
        }
    }

    @Test(arguments: [
        "challenge_id = gen_random_uuid()", "provider = 'phone'", "digest = sha256('x')",
        "session_id = gen_random_uuid()", "plan = sha256('x')", "code_digest = sha256('x')",
        "expires_at = expires_at + interval '1 h'", "sealed = sealed || 'x'",
    ])
    func `a changed row proves nothing`(change: String) async throws {
        try await with { database, codes, outbox in
            _ = try await send(codes)
            try await database.asSuperuser.execute("UPDATE challenges SET \(change)")
            let stored = try await database.rows("challenge_id::text]) FROM challenges")
            let id = try #require(stored.first.flatMap { ChallengeID($0) })
            #expect(try await refusal(codes, id, outbox.codes[0]) == .wrongCode)
        }
    }

    @Test func `a challenge made of another one proves nothing`() async throws {
        try await with { database, codes, outbox in
            let own = try await send(codes, "thief@example.com")
            let other = try await send(codes, "ada@example.com")
            try await database.asSuperuser.execute(
                """
                UPDATE challenges SET code_digest = (
                    SELECT code_digest FROM challenges WHERE challenge_id = '\(own)')
                WHERE challenge_id = '\(other)'
                """)
            #expect(try await refusal(codes, other, outbox.codes[0]) == .wrongCode)
        }
    }

    @Test func `the last letter of an address may join the sign`() async throws {
        try await with { _, codes, outbox in
            let id = try await send(codes, "\u{D15}\u{D4E}@example.com")
            #expect(try await refusal(codes, id, outbox.codes[0]) == nil)
        }
    }

    @Test func `a code of another tenant is wrong`() async throws {
        try await with { _, codes, outbox in
            let id = try await send(codes)
            #expect(
                try await refusal(codes, id, outbox.codes[0], in: tenant("acme")) == .wrongCode)
        }
    }

    @Test func `a dump has neither addresses nor codes`() async throws {
        try await with { database, codes, outbox in
            _ = try await send(codes)
            for table in ["challenges", "code_counts"] {
                let text = try await database.asSuperuser.texts(
                    "SELECT t::text FROM \(table) t"
                ).joined()
                #expect(!text.isEmpty)
                // Not the name, which may stand in hexadecimal digits by chance.
                #expect(
                    !text.contains("example") && !text.contains(",\(outbox.codes[0]),"))
            }
        }
    }

    @Test func `ended challenges and counts are swept`() async throws {
        try await with { database, codes, outbox in
            _ = try await send(codes)
            let sweeper = Sweeper(url: database.runtimeURL, onFault: { Issue.record("\($0)") })
            #expect(try await sweeper.sweep() == 0)
            try await database.asSuperuser.execute(
                "UPDATE challenges SET expires_at = now(); UPDATE code_counts SET ends_at = 'epoch'"
            )
            #expect(try await sweeper.sweep() == 3)
        }
    }
}
