import Cryptography
import Ledger
import LedgerAudit
import LedgerTestSupport
import Synchronization
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// Large batches: Postgres inserts the events of a part while the next one is decided.
@Suite struct BatchPartsTests {
    private static let parts = [0..<64, 64..<128, 128..<150]
    private static let largerParts = [
        0..<65, 65..<130, 130..<195, 195..<260, 260..<325, 325..<390, 390..<455, 455..<519,
    ]

    private static func with(
        _ body: @Sendable (SequencerFixture, PostgresBatchStore, Verifier) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { fixture in
                let keyring = SequencerFixture.strictKeyring
                let store = PostgresBatchStore(
                    url: database.runtimeURL, keyring: keyring, signInWindowSeconds: { _ in 3600 })
                let verifier = Verifier(url: database.runtimeURL, keyring: keyring)
                try await body(fixture, store, verifier)
                await verifier.close()
                await store.close()
            }
        }
    }

    private static let decider = BatchDecider(
        policy: { _ in SequencerFixture.unlimitedPolicy }, random: { SecureRandom.bytes($0) })

    /// Sign-ins of different persons; the last one is the first person again.
    private static func commands(_ count: Int, seed: UInt64) -> [Command] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            Command(
                id: generator.id(), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: "203.0.113.7", userAgent: nil),
                intent: .signIn(
                    SignIn(
                        proof(
                            subject("apple", "\(seed)-\(number == count - 1 ? 0 : number)"),
                            authenticatedAt: Timestamp(seconds: 1_000_000_000_000)),
                        createAccount: true, refreshToken: digest(generator.bytes(32)),
                        newAccount: generator.id(), newIdentity: generator.id(),
                        newSession: generator.id())))
        }
    }

    @Test(arguments: [[0..<127], parts, largerParts])
    func `a decision sees those of former parts, and the log has all events once`(
        expected: [Range<Int>]
    ) async throws {
        let commands = Self.commands(expected.last?.upperBound ?? 0, seed: 1)
        try await Self.with { fixture, store, verifier in
            let before = try await fixture.log().count
            let ranges = Mutex<[Range<Int>]>([])
            let outcome = try await store.transact(BatchKeys(commands)) {
                loaded, part throws(BatchFault) in
                ranges.withLock { $0.append(part) }
                let isLast = part.upperBound == commands.count
                let decided = try Self.decider.decide(
                    Array(commands[part]), in: loaded, isLast: isLast)
                #expect(decided.recordings.isEmpty == !isLast)
                return decided
            }
            #expect(ranges.withLock(\.self) == expected)
            let accounts = try outcome.answers.map { answer in
                guard case .success(.signedIn(let grant, _)) = try answer.get() else {
                    throw BatchFault.damaged("\(answer)")
                }
                return grant.account
            }
            #expect(accounts.count == commands.count && accounts.last == accounts.first)
            #expect(Set(accounts).count == commands.count - 1)
            let log = try await fixture.log().dropFirst(before)
            let recorded = outcome.recordings.flatMap(\.recordings)
            #expect(log.map(\.entry) == recorded.map(\.entry))
            let report = try await verifier.run()
            #expect(report.holds, "\(report.findings)")
        }
    }

    @Test func `a fault in a later part leaves nothing of those before it`() async throws {
        let commands = Self.commands(150, seed: 1)
        try await Self.with { fixture, store, verifier in
            let before = try await fixture.log().count
            let fault = await #expect(throws: BatchFault.self) {
                _ = try await store.transact(BatchKeys(commands)) {
                    loaded, part throws(BatchFault) in
                    guard part.lowerBound == 0 else { throw .damaged("the second part") }
                    return try Self.decider.decide(Array(commands[part]), in: loaded)
                }
            }
            #expect(fault?.description == "unreadable: the second part")
            #expect(try await fixture.log().count == before)
            // The connection is still usable.
            let others = Self.commands(150, seed: 2)
            _ = try await store.transact(BatchKeys(others)) { loaded, part throws(BatchFault) in
                try Self.decider.decide(Array(others[part]), in: loaded)
            }
            #expect(try await fixture.log().count > before)
            let report = try await verifier.run()
            #expect(report.holds, "\(report.findings)")
        }
    }
}
