import Dispatch
import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// Rules through the real store: their row, and the changes that it must not survive.
@Suite struct RulesStoreTests {
    private static let pins = Dictionary(
        uniqueKeysWithValues: RandomCommands.providers.map {
            ($0, ProviderPin(type: .oidc, issuers: ["https://\($0).example"]))
        })

    /// The usual rules of these tests, with budgets that they do not exhaust.
    private static var policy: TenantPolicy {
        var policy = SequencerFixture.unlimitedPolicy
        policy.providers = pins
        return policy
    }

    private static func policy(without name: String) -> TenantPolicy {
        var policy = policy
        policy.providers[provider(name)] = nil
        return policy
    }

    @Test func `the row is what the log says, and every sequencer decides by it`() async throws {
        try await Self.with { database, fixture in
            var story = Story(fixture.sequencer)
            #expect(try await story.rules(Self.policy) == 1)
            #expect(try await story.rules(Self.policy) == 1)
            #expect(try await story.rules(Self.policy(without: "apple")) == 2)
            let rows = try await database.rows("version::text, body]) FROM rules")
            let recorded = try await Self.recorded(database)
            #expect(rows == ["2|\(recorded.body)"])
            #expect(recorded.policy == Self.policy(without: "apple"))
            let refused = try await story.submit(Self.signIn("apple", "ada"))
            #expect(refused == .failure(.unsupportedProvider))
            try await SequencerFixture.with(database, isProtected: true, opensLedger: false) {
                var other = Story($0.sequencer, seed: 2)
                let refused = try await other.submit(Self.signIn("apple", "ada"))
                #expect(refused == .failure(.unsupportedProvider))
            }
            try await Self.expectSound(database)
        }
    }

    @Test func `identities and sole ways to sign in are found in the table`() async throws {
        try await Self.with { database, fixture in
            var story = Story(fixture.sequencer)
            _ = try await story.rules(Self.policy)
            let ada = try await story.signIn("apple", "ada")
            let fewer = Self.policy(without: "apple")
            let lockedOut = Refusal.accountsLockedOut([provider("apple")])
            #expect(try await story.set(fewer) == .failure(lockedOut))
            try await story.link(ada, "google", "ada")
            #expect(try await story.rules(fewer) == 2)
            let removed = try await Self.recorded(database).formerProviders
            #expect(removed.keys.map(\.description) == ["apple"])
            var other = Self.policy
            other.providers[provider("apple")] = ProviderPin(
                type: .oidc, issuers: ["https://thief.example"])
            #expect(try await story.set(other) == .failure(.providerPinned(provider("apple"))))
            // Without an identity the name is free.
            _ = try await story.erase(ada.account).get()
            #expect(try await story.rules(other) == 3)
            try await Self.expectSound(database)
        }
    }

    @Test func `the accounts that would be locked out are listed`() async throws {
        try await Self.with { database, fixture in
            var story = Story(fixture.sequencer)
            _ = try await story.rules(Self.policy)
            let ada = try await story.signIn("apple", "ada")
            let bob = try await story.signIn("apple", "bob")
            let eve = try await story.signIn("apple", "eve")
            try await story.link(eve, "google", "eve")
            let former = Self.policy
            let new = Self.policy(without: "apple")
            let listed = try await database.asRuntime.with {
                let found = try RecordedRules.accounts(
                    of: .default, lockedOutBy: new, since: former, limit: 1, on: $0)
                return (found.accounts, found.count)
            }
            #expect(listed.1 == 2)
            #expect(listed.0 == [min(ada.account, bob.account)])
        }
    }

    @Test func `damaged rules are those of their tenant alone`() async throws {
        try await Self.with { database, fixture in
            var story = Story(fixture.sequencer)
            _ = try await story.rules(Self.policy)
            try await database.asSuperuser.execute(
                "INSERT INTO rules (tenant_id, version, body) VALUES ('acme', 1, '{}')")
            let read = try await database.asRuntime.with { try RecordedRules.read(on: $0) }
            #expect(try read[.default]?.get().policy == Self.policy)
            let acme = try #require(TenantID("acme"))
            let damaged = try #require(read[acme])
            #expect(throws: BatchFault.self) { try damaged.get() }
        }
    }

    @Test func `issuers that need explicit confirmation are listed`() async throws {
        try await Self.with { database, fixture in
            var story = Story(fixture.sequencer)
            _ = try await story.rules(Self.policy)
            _ = try await story.signIn("apple", "ada")
            var new = Self.policy(without: "google")
            for name in ["apple", "facebook"] {
                new.providers[provider(name)] = ProviderPin(
                    type: .oidc, issuers: ["https://other.example"])
            }
            let recorded = try await Self.recorded(database)
            let listed = try await database.asRuntime.with { [new] in
                try RecordedRules.providers(
                    of: .default, pinnedOtherwiseIn: new, than: recorded, on: $0)
            }
            #expect(listed == [provider("apple")], "the other provider has no identity")
        }
    }

    @Test func `a change between a load and an append is seen by the next batch`() async throws {
        try await Self.with { database, first in
            var story = Story(first.sequencer)
            _ = try await story.rules(Self.policy)
            try await SequencerFixture.with(database, isProtected: true, opensLedger: false) {
                second in
                // All wait for the head together, and go on in any order: a sign-in after the rules is
                // refused, and the former ones open no session any longer.
                let replies = try await Self.behindTheHead(database) { submit in
                    for number in 0..<10 {
                        submit(
                            number.isMultiple(of: 2) ? first.sequencer : second.sequencer,
                            Self.signIn("apple", "person-\(number)"))
                    }
                    submit(
                        second.sequencer,
                        .setRules(
                            SetRules(Self.policy(without: "apple"), condition: .acceptsLockOuts)))
                    for number in 10..<20 {
                        submit(first.sequencer, Self.signIn("apple", "person-\(number)"))
                    }
                }
                #expect(replies == 21)
                let log = try await first.log()
                let change = try #require(
                    log.lastIndex { $0.recorded.event.name == .rulesSet })
                #expect(
                    log[change...].allSatisfy { $0.recorded.event.name != .signedIn },
                    "no sign-in is decided by the former rules after the change")
                try await Self.expectSound(database)
            }
        }
    }

    @Test(arguments: [
        "UPDATE rules SET body = replace(body, '\"link_limit\":\"', '\"link_limit\":\"9')",
        "UPDATE rules SET mac = NULL", "DELETE FROM rules",
    ])
    func `a changed row decides nothing and is found`(change: String) async throws {
        try await Self.with { database, fixture in
            var story = Story(fixture.sequencer)
            _ = try await story.rules(Self.policy)
            try await database.asSuperuser.execute(change)
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await fixture.signIn(subject("apple", "ada"))
            }
            let report = try await Self.report(database)
            #expect(report.findings.contains { $0.check == .rules }, "\(report.findings)")
        }
    }

    @Test func `a former row with its MAC decides nothing and is found`() async throws {
        try await Self.with { database, fixture in
            var story = Story(fixture.sequencer)
            _ = try await story.rules(Self.policy)
            try await database.asSuperuser.execute("CREATE TABLE kept_rules AS TABLE rules")
            _ = try await story.rules(Self.policy(without: "apple"))
            try await database.asSuperuser.execute(
                "DELETE FROM rules; INSERT INTO rules TABLE kept_rules")
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await fixture.signIn(subject("apple", "ada"))
            }
            let report = try await Self.report(database)
            #expect(report.findings.contains { $0.check == .rules }, "\(report.findings)")
        }
    }

    // MARK: Support

    private static func with(
        _ body: (ScratchDatabase, SequencerFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) {
                try await body(database, $0)
            }
        }
    }

    private static func signIn(_ name: String, _ person: String) -> Command.Intent {
        var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
        return .signIn(
            SignIn(
                proof(
                    subject(name, person),
                    authenticatedAt: Timestamp(seconds: 1_000_000_000_000)),
                createAccount: true, refreshToken: digest(generator.bytes(32)),
                newAccount: generator.id(),
                newIdentity: generator.id(), newSession: generator.id()))
    }

    private static func recorded(_ database: ScratchDatabase) async throws -> RulesSet {
        let recorded = try await database.asRuntime.with { try RecordedRules.read(on: $0) }
        return try #require(recorded[.default]).get()
    }

    private static func report(_ database: ScratchDatabase) async throws -> VerificationReport {
        let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }

    private static func expectSound(_ database: ScratchDatabase) async throws {
        let report = try await report(database)
        #expect(report.holds && !report.isSearched, "\(report.findings)")
    }

    /// Submits commands while a transaction holds the head, and returns the number of answers.
    private static func behindTheHead(
        _ database: ScratchDatabase,
        _ body: (_ submit: (Sequencer, Command.Intent) -> Void) -> Void
    ) async throws -> Int {
        var commands: [(Sequencer, Command.Intent)] = []
        body { commands.append(($0, $1)) }
        let (isHeld, letGo) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        let holder = Task {
            try await database.asSuperuser.with { connection in
                try connection.execute(
                    "BEGIN; SELECT FROM ledger_head WHERE tenant_id = 'default' FOR UPDATE")
                isHeld.continuation.finish()
                letGo.wait()
                try connection.execute("COMMIT")
            }
        }
        for await _ in isHeld.stream {}
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            for (sequencer, intent) in commands {
                group.addTask {
                    let command = Command(
                        id: CommandID(bits: .random(in: 1...(.max))), tenant: .default,
                        origin: Command.Origin(
                            request: nil, clientIP: "203.0.113.7", userAgent: nil),
                        intent: intent)
                    return (try? await sequencer.submit(command)) != nil
                }
            }
            try await eventually("both sequencers wait for the head") {
                let waiting = try await database.asSuperuser.texts(
                    """
                    SELECT pid::text FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """)
                return waiting.count == 2
            }
            letGo.signal()
            try await holder.value
            var answered = 0
            for try await isAnswered in group where isAnswered { answered += 1 }
            return answered
        }
    }
}

extension Story {
    /// Records rules unless an account is locked out.
    fileprivate mutating func set(_ policy: TenantPolicy) async throws -> Result<Reply, Refusal> {
        try await submit(.setRules(SetRules(policy, condition: .withoutLockOuts)))
    }

    /// Records rules, and returns their version.
    fileprivate mutating func rules(_ policy: TenantPolicy) async throws -> Int64 {
        guard case .rulesRecorded(let rules, _, _) = try await set(policy).get() else {
            throw Unexpected(what: "other reply")
        }
        return rules.rulesVersion
    }
}
