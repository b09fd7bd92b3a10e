import BlockingCalls
import Cryptography
import Ledger
import LedgerPostgres
import LedgerSignIn
import LedgerTestSupport
import Passwords
import Postgres
import Synchronization
import Testing

/// Codes beside passwords in the database: each is used up by its check.
@Suite struct PasswordCodeStoreTests {
    /// Keeps codes instead of writing messages.
    private final class Outbox: CodeOutbox {
        private let sent = Mutex<[String]>([])

        var codes: [String] { sent.withLock(\.self) }

        func committed() {}

        func write(
            _ message: CodeMessage, for challenge: StoredChallenge, on connection: Connection
        ) throws {
            sent.withLock { $0.append(message.code) }
        }
    }

    private static let now = Timestamp(seconds: 4_000_000_000)
    private static let address = "ada@example.com"

    /// Calls a body with the services of two processes.
    private func with(
        _ body: @Sendable ([PostgresChallengeStore], [AddressCodes], Outbox) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            let outbox = Outbox()
            let stores = (0..<2).map { _ in
                PostgresChallengeStore(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring, outbox: outbox,
                    onFault: { Issue.record("\($0)") })
            }
            let keys = ["key": SymmetricKey.generate()]
            let codes = stores.map {
                AddressCodes(
                    current: "key", keys: keys, store: $0, textsMax: { _ in 1_000 },
                    random: { SecureRandom.uint128() })
            }
            try await body(stores, codes, outbox)
            for store in stores { await store.close() }
        }
    }

    private func send(_ codes: AddressCodes) async throws -> ChallengeID {
        try await codes.send(
            to: Self.address, .email, of: RandomCommands.password, in: .default,
            for: .password(isKnown: true), from: "sender", language: nil, at: Self.now)
    }

    /// Returns the refusal of a password of an address without an account: `wrongPassword` after a right code.
    private func refusal(
        _ codes: AddressCodes, _ id: ChallengeID, _ code: String, from network: String
    ) async throws -> Credential.Flaw? {
        let provider = ProviderConfiguration(
            name: RandomCommands.password,
            settings: .password(
                PasswordSettings(rule: try #require(PasswordRule(lengthMin: 8)))))
        let ledger = InMemoryLedger(policy: { _ in nil }, now: { Self.now })
        let passwords = PasswordChecks(
            hasher: PasswordHasher(),
            pool: BlockingPool(label: "one", threads: 1, waitingMax: 1), store: ledger,
            codes: codes, localParts: { _ in .ascii })
        let client = CodeClient(
            codes: codes, passwords: passwords,
            passkeys: PasskeyChecks(
                store: ledger, key: .generate(), onCounterFault: { _, _, _ in }),
            flows: BrowserFlows(key: .generate()), network: network,
            caller: nil, newID: { SecureRandom.uint128() })
        let body = PasswordBody.known(
            address: Self.address, try Password("not the right one"), deviceToken: nil,
            code: CodeBody(challenge: id.description, code: code))
        do throws(Credential.Flaw) {
            _ = try await provider.prove(
                .password(body), in: .default, for: .signIn(.default, singleUse: nil), by: client,
                at: Self.now)
            return nil
        } catch {
            return error
        }
    }

    private func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

    @Test func `of many requests with one code at two processes one has its password checked`()
        async throws
    {
        try await with { _, codes, outbox in
            for trial in 0..<AddressCodes.sendsPerAddress {
                let id = try await send(codes[trial % 2])
                let code = try #require(outbox.codes.last)
                let refusals = try await withThrowingTaskGroup(of: Credential.Flaw?.self) {
                    group in
                    for number in 0..<StoredChallenge.triesMax {
                        group.addTask {
                            try await refusal(codes[number % 2], id, code, from: "\(number)")
                        }
                    }
                    return try await group.reduce(into: [Credential.Flaw?]()) { $0.append($1) }
                }
                #expect(refusals.filter { $0 == .wrongPassword }.count == 1, "trial \(trial)")
                #expect(refusals.filter { $0 == .wrongCode }.count == 4, "trial \(trial)")
            }
        }
    }

    @Test func `a code that is limited or wrong is not used up`() async throws {
        try await with { _, codes, outbox in
            for _ in 0..<2 {
                let id = try await send(codes[0])
                let code = wrong(try #require(outbox.codes.last))
                for _ in 0..<StoredChallenge.triesMax {
                    #expect(
                        try await refusal(codes[0], id, code, from: "n") == .wrongCode)
                }
            }
            let id = try await send(codes[0])
            let code = try #require(outbox.codes.last)
            guard case .limited = try await refusal(codes[0], id, code, from: "n") else {
                Issue.record("the code is not limited")
                return
            }
            #expect(try await refusal(codes[0], id, wrong(code), from: "m") == .wrongCode)
            #expect(try await refusal(codes[0], id, code, from: "m") == .wrongPassword)
            #expect(try await refusal(codes[1], id, code, from: "m") == .wrongCode)
        }
    }

    @Test func `a limit is read without a count`() async throws {
        try await with { (stores, _, _) async throws in
            let count = CodeCount(scope: sha256(Array("refused".utf8)), limit: 2)
            func reached(after seconds: Int64 = 0) async throws -> ReachedCount? {
                try await stores[1].reached(
                    [count], in: .default, at: Self.now.adding(seconds: seconds))
            }
            for _ in 0..<count.limit {
                for _ in 0...count.limit { #expect(try await reached() == nil) }
                #expect(try await stores[0].count([count], in: .default, at: Self.now) == nil)
            }
            #expect(try await reached(after: 100) == ReachedCount(nil, waitSeconds: 3_500))
            #expect(try await reached(after: CodeCount.windowSeconds) == nil)
        }
    }

    @Test func `a limit that no code lifts comes first`() async throws {
        try await with { stores, _, _ in
            let own = CodeCount(scope: sha256(Array("own".utf8)), limit: 1)
            let wide = CodeCount(scope: sha256(Array("wide".utf8)), limit: 1, kind: .address)
            var reached: [ReachedCount?] = []
            let steps: [(counts: [CodeCount], seconds: Int64)] = [
                ([own], 0), ([wide], 100), ([own, wide], 200), ([own, wide], 3_650),
            ]
            for step in steps {
                reached.append(
                    try await stores[0].count(
                        step.counts, in: .default, at: Self.now.adding(seconds: step.seconds)))
            }
            #expect(
                reached == [
                    nil, nil, ReachedCount(nil, waitSeconds: 3_400),
                    ReachedCount(.address, waitSeconds: 50),
                ])
        }
    }
}
