import Ledger
import LedgerAudit
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Synchronization
import Testing

/// An erasure in one batch with commands before and after it.
@Suite struct ErasureBatchTests {
    private typealias Answer = Result<Reply, Refusal>

    @Test func `a hold is lifted and its account erased in one batch`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            let ada = fixture.ada.account
            guard case .holdSet(let hold) = try await story.hold(ada).get() else {
                throw Unexpected(what: "no hold")
            }
            let answers = try await inOneBatch(
                [
                    .liftLegalHold(LiftLegalHold(account: ada, hold: hold, actor: .system)),
                    .eraseAccount(EraseAccount(account: ada, basis: .operator, actor: .system)),
                ], in: fixture)
            #expect(answers.first == .success(.holdLifted))
            expectErased(answers.last)
            try await expectNothingLeft(of: ErasureFixture.adasData.dropLast(2), in: fixture)
        }
    }

    @Test func `an identity is linked and its account erased in one batch`() async throws {
        try await ErasureFixture.with { fixture in
            let ada = fixture.ada
            let answers = try await inOneBatch(
                [
                    .linkProvider(link(ada, "google", "linked-last")),
                    .eraseAccount(
                        EraseAccount(account: ada.account, basis: .operator, actor: .system)),
                ], in: fixture)
            guard case .success(.linked) = answers.first else {
                throw Unexpected(what: "not linked: \(answers)")
            }
            expectErased(answers.last)
            try await expectNothingLeft(
                of: ErasureFixture.adasData.dropLast(2) + ["linked-last"], in: fixture)
        }
    }

    @Test func `an account is erased and its subject opens another in one batch`() async throws {
        try await ErasureFixture.with { fixture in
            let ada = fixture.ada.account
            let answers = try await inOneBatch(
                [
                    .eraseAccount(EraseAccount(account: ada, basis: .operator, actor: .system)),
                    .signIn(signIn("apple", "subject-of-ada", token: 7)),
                ], in: fixture)
            expectErased(answers.first)
            guard case .success(.signedIn(let grant, _)) = answers.last else {
                throw Unexpected(what: "not signed in: \(answers)")
            }
            #expect(grant.account != ada)
            // The subject exists again, on the other account.
            try await expectNothingLeft(
                of: ErasureFixture.adasData.dropLast(2).dropFirst(), in: fixture)
        }
    }

    @Test func `two erasures of an account in one batch give one event`() async throws {
        try await ErasureFixture.with { fixture in
            let erase = Command.Intent.eraseAccount(
                EraseAccount(account: fixture.ada.account, basis: .operator, actor: .system))
            let answers = try await inOneBatch([erase, erase], in: fixture)
            guard case .success(.erased(let first, isNew: true, _)) = answers.first,
                case .success(.erased(let second, isNew: false, _)) = answers.last
            else { throw Unexpected(what: "\(answers)") }
            #expect(first == second)
            try await expectNothingLeft(of: ErasureFixture.adasData.dropLast(2), in: fixture)
        }
    }

    /// A concurrent command through another process.
    enum Rival: CaseIterable {
        case erasure, link, signIn, refresh
    }

    @Test(arguments: Rival.allCases)
    func `an erasure and a rival in another process are serialized`(rival: Rival) async throws {
        try await ErasureFixture.with { fixture in
            try await SequencerFixture.with(fixture.database) { other in
                var sessions: [Caller] = []
                for number in 0..<40 {
                    let intent = signIn("apple", "racer-\(number)", token: UInt8(number))
                    let reply = try await submit(.signIn(intent), to: fixture.sequencer.sequencer)
                    guard case .signedIn(let grant, _) = try reply.get() else {
                        throw Unexpected(what: "no session")
                    }
                    sessions.append(Caller(account: grant.account, session: grant.session))
                }
                let outcomes = await withTaskGroup { group in
                    for (number, caller) in sessions.enumerated() {
                        group.addTask {
                            async let erased = submit(
                                .eraseAccount(
                                    EraseAccount(
                                        account: caller.account, basis: .operator, actor: .system)),
                                to: fixture.sequencer.sequencer)
                            async let rivalled = submit(
                                intent(of: rival, caller, number), to: other.sequencer)
                            return (caller, try? await erased, try? await rivalled)
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                for (caller, erased, rivalled) in outcomes {
                    #expect(isExpected(rivalled, of: rival, caller), "\(rivalled as Any)")
                    if rival == .erasure {
                        #expect(isNew(erased) != isNew(rivalled), "one of them did it")
                    } else {
                        #expect(isNew(erased), "\(erased as Any)")
                    }
                }
                let kept = try await fixture.database.rows(
                    "account_id::text]) FROM accounts"
                ).filter { account in
                    sessions.contains { $0.account.description == account }
                }
                #expect(kept == [])
                try await fixture.settle()
                let report = try await fixture.verify()
                #expect(report.holds && !report.isSearched, "\(report.findings)")
            }
        }
    }

    private func intent(of rival: Rival, _ caller: Caller, _ number: Int) -> Command.Intent {
        switch rival {
        case .erasure:
            .eraseAccount(
                EraseAccount(account: caller.account, basis: .retention, actor: .system))
        case .link: .linkProvider(link(Guest(caller), "google", "raced-\(number)"))
        case .signIn: .signIn(signIn("apple", "racer-\(number)", token: UInt8(100 + number)))
        case .refresh:
            .refreshSession(
                RefreshSession(
                    session: caller.session, presented: token(UInt8(number)),
                    successor: token(UInt8(200 + number)), sealedSuccessor: [1]))
        }
    }

    /// Whether a rival was either before or after the erasure.
    private func isExpected(_ answer: Answer?, of rival: Rival, _ caller: Caller) -> Bool {
        switch (rival, answer) {
        case (.erasure, .success(.erased)): true
        case (.link, .success(.linked)), (.link, .failure(.sessionEnded)): true
        case (.signIn, .success(.signedIn)): true
        case (.refresh, .success(.refreshed)), (.refresh, .failure(.invalidRefreshToken)): true
        default: false
        }
    }

    private func isNew(_ answer: Answer?) -> Bool {
        guard case .success(.erased(_, let isNew, _)) = answer else { return false }
        return isNew
    }

    private func expectErased(_ answer: Answer?) {
        #expect(isNew(answer), "\(answer as Any)")
    }

    private func expectNothingLeft(
        of texts: some Sequence<String>, in fixture: ErasureFixture
    ) async throws {
        try await fixture.settle()
        for text in texts {
            #expect(try await fixture.database.tables(holding: text) == [], "\(text) is left")
        }
        let report = try await fixture.verify()
        #expect(report.holds && !report.isSearched, "\(report.findings)")
    }

    /// Queues commands before a sequencer starts, so that they are one batch in this order.
    private func inOneBatch(
        _ intents: [Command.Intent], in fixture: ErasureFixture
    ) async throws -> [Answer] {
        let sequencer = Sequencer(
            configuration: SequencerConfiguration(url: fixture.database.runtimeURL),
            policy: { _ in SequencerFixture.unlimitedPolicy }, keyring: SequencerFixture.keyring,
            onCommit: { _ in }, onFault: { Issue.record("\($0)") })
        let answers = try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
            for (index, intent) in intents.enumerated() {
                group.addTask { (index, try await submit(intent, to: sequencer)) }
                try await eventually("command \(index) waits") {
                    sequencer.statistics.queueDepth == index + 1
                }
            }
            async let running: Void = sequencer.run()
            var answers: [Int: Answer] = [:]
            for try await (index, answer) in group { answers[index] = answer }
            sequencer.close()
            await running
            return intents.indices.compactMap { answers[$0] }
        }
        #expect(sequencer.statistics.batches == 1 && sequencer.statistics.batchesSplit == 0)
        return answers
    }

    private func signIn(_ provider: String, _ name: String, token number: UInt8) -> SignIn {
        var generator = SeededGenerator(seed: .random(in: 0...(.max)))
        return SignIn(
            proof(subject(provider, name), authenticatedAt: Timestamp(seconds: 100_000_000_000)),
            createAccount: true, refreshToken: token(number), newAccount: generator.id(),
            newIdentity: generator.id(), newSession: generator.id())
    }

    private func link(_ guest: Guest, _ provider: String, _ name: String) -> LinkProvider {
        var generator = SeededGenerator(seed: .random(in: 0...(.max)))
        let identity = subject(provider, name)
        return LinkProvider(
            caller: guest.caller,
            credential: Credential(identity, digest: digest(generator.bytes(32))),
            idempotency: nil, newIdentity: generator.id())
    }

    private func token(_ number: UInt8) -> Digest { digest(Array(repeating: number, count: 32)) }
}

private func submit(
    _ intent: Command.Intent, to sequencer: Sequencer
) async throws -> Result<Reply, Refusal> {
    var generator = SeededGenerator(seed: .random(in: 0...(.max)))
    return try await sequencer.submit(
        Command(
            id: generator.id(), tenant: .default,
            origin: Command.Origin(
                request: generator.id(), clientIP: Story.clientIP, userAgent: "a test"),
            intent: intent))
}
