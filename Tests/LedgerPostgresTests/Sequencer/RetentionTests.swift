import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Testing

/// The erasure of unused anonymous accounts: the search, and the check under the lock.
@Suite struct RetentionTests {
    private static let anonymous = provider("anonymous")
    private static let policy = RandomCommands.policy(hasEveryType: true)
    private static let day: Int64 = 86_400

    /// Anonymous accounts of which one is not used after a time: the others are refreshed, upgraded, signed in
    /// to, or given back by the undoing of a merge.
    private struct Story {
        let fixture: SequencerFixture
        private(set) var unused = AccountID(bits: 0)
        private(set) var used: [AccountID] = []
        private(set) var since = Timestamp(seconds: 0)
        private var generator = SeededGenerator(seed: 1)

        init(_ fixture: SequencerFixture) async throws {
            self.fixture = fixture
            let names = ["a", "b", "c", "d", "e"]
            var people: [(caller: Caller, token: Digest)] = []
            for name in names { people.append(try await signIn(subject("anonymous", name))) }
            let ada = try await signIn(subject("google", "ada"))
            let merge = try await merge(people[4].caller, into: ada.caller)
            unused = people[0].caller.account
            used = people.dropFirst().map(\.caller.account)
            // After all events so far, and before those that follow.
            let last = try #require(try await fixture.log().last)
            since = Timestamp(microseconds: last.recorded.recordedAt.microseconds + 1)

            try await refresh(people[1])
            try await upgrade(people[2].caller)
            _ = try await signIn(subject("anonymous", "d"))
            try await undo(merge, of: people[4].caller, from: ada.caller)
        }

        private mutating func signIn(
            _ subject: Subject
        ) async throws -> (caller: Caller, token: Digest) {
            let token = digest(generator.bytes(32))
            let isAnonymous = subject.provider == anonymous
            let intent = SignIn(
                proof(subject, methods: isAnonymous ? .anonymous : .federated),
                createAccount: true, refreshToken: token, newAccount: generator.id(),
                newIdentity: generator.id(), newSession: generator.id())
            let result = try await fixture.submit(.signIn(intent))
            guard case .success(.signedIn(let grant, _)) = result else {
                throw ModelLedger.Unexpected(result: result)
            }
            return (Caller(account: grant.account, session: grant.session), token)
        }

        private mutating func refresh(
            _ person: (caller: Caller, token: Digest)
        ) async throws {
            _ = try await fixture.submit(
                .refreshSession(
                    RefreshSession(
                        session: person.caller.session, presented: person.token,
                        successor: digest(generator.bytes(32)), sealedSuccessor: [1]))
            ).get()
        }

        private mutating func upgrade(_ caller: Caller) async throws {
            _ = try await fixture.submit(
                .linkProvider(
                    LinkProvider(
                        caller: caller,
                        credential: Credential(subject("google", "bob"), digest: .zero),
                        idempotency: nil, newIdentity: generator.id()))
            ).get()
        }

        private func merge(_ absorbed: Caller, into survivor: Caller) async throws -> EventID {
            func command(_ agreed: Digest?) -> MergeAccounts {
                MergeAccounts(
                    authority: .support(
                        .system,
                        MergeAccounts.Case(
                            survivor: survivor.account, absorbed: absorbed.account,
                            reason: "one person", reference: "7")),
                    keepsAbsorbed: [], agreed: agreed, digest: sha256)
            }
            let planned = try await fixture.submit(command(nil).intent)
            guard case .mergePlanned(_, let digest) = try planned.get() else {
                throw ModelLedger.Unexpected(result: planned)
            }
            let merged = try await fixture.submit(command(digest).intent)
            guard case .merged(_, let event?) = try merged.get() else {
                throw ModelLedger.Unexpected(result: merged)
            }
            return event
        }

        private func undo(
            _ merge: EventID, of absorbed: Caller, from survivor: Caller
        ) async throws {
            _ = try await fixture.submit(
                .unmergeAccounts(
                    UnmergeAccounts(
                        merge: merge, survivor: survivor.account, absorbed: absorbed.account,
                        actor: .system, reason: "two people", caseReference: "8",
                        isPreview: false))
            ).get()
        }

        func erase(_ account: AccountID) async throws -> Result<Reply, Refusal> {
            try await fixture.submit(erasure(of: account, unusedSince: since))
        }
    }

    private static func erasure(
        of account: AccountID, unusedSince time: Timestamp
    ) -> Command.Intent {
        .eraseAccount(
            EraseAccount(
                account: account, basis: .retention, agreement: .unused(since: time),
                actor: .system))
    }

    @Test(arguments: [1, 2, 1000])
    func `an unused account is found page by page, and no other`(pageLimit: Int) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                let story = try await Story(fixture)
                let unused = UnusedAccounts(url: database.runtimeURL, pageLimit: pageLimit)
                var found: [AccountID] = []
                var last: String? = ""
                while let after = last {
                    let page = try await unused.page(
                        of: .default, Self.anonymous, notUsedSince: story.since, after: after)
                    found += page.accounts
                    last = page.last
                }
                #expect(found == [story.unused])
                await unused.close()
            }
        }
    }

    @Test func `only what is anonymous and unused under the lock is erased`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(
                database, policy: Self.policy, isProtected: true
            ) { fixture in
                let story = try await Story(fixture)
                for account in story.used {
                    #expect(try await story.erase(account) == .failure(.erasurePlanChanged))
                }
                let result = try await story.erase(story.unused)
                guard case .success(.erased(_, isNew: true, covering: [story.unused])) = result
                else { throw ModelLedger.Unexpected(result: result) }
                let last = try #require(try await fixture.log().last)
                guard case .accountErased(let fact) = last.recorded.event else {
                    Issue.record("\(last.recorded.event)")
                    return
                }
                #expect(fact.basis == .retention)
                #expect(fixture.reportedFaults.isEmpty)
            }
        }
    }

    @Test func `a legal hold keeps an unused account`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, policy: Self.policy) { fixture in
                let story = try await Story(fixture)
                _ = try await fixture.submit(
                    .setLegalHold(
                        SetLegalHold(
                            account: story.unused, newHold: HoldID(bits: 9), actor: .system))
                ).get()
                let later = Timestamp(microseconds: story.since.microseconds + 3_600_000_000)
                let result = try await fixture.submit(
                    Self.erasure(of: story.unused, unusedSince: later))
                #expect(result == .failure(.legalHold))
            }
        }
    }

    @Test func `an event or a refresh earlier in the batch is a use`() throws {
        var model = ModelLedger(policy: Self.policy)
        let caller = try model.signIn(subject("anonymous", "a"), methods: .anonymous)
        let account = try #require(model.account(caller.account))
        let loaded = DecisionState.LastUse(
            position: account.lastPosition, time: Timestamp(seconds: 1_790_000_000))
        let now = Timestamp(seconds: 1_790_000_000 + 40 * Self.day)
        func decide() -> Result<Reply, Refusal> {
            var state = model.state
            state.lastUses[account.id] = loaded
            let command = Command(
                id: CommandID(bits: 1), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: Self.erasure(
                    of: account.id, unusedSince: now.adding(seconds: -30 * Self.day)))
            return command.decide(given: state, at: now, under: Self.policy).result
        }
        #expect(throws: Never.self) { try decide().get() }
        let before = model
        model.advanceClock(bySeconds: 40 * Self.day)
        let token = try #require(model.refreshToken(of: caller))
        _ = try model.signIn(subject("anonymous", "a"), methods: .anonymous)
        #expect(decide() == .failure(.erasurePlanChanged))
        model = before
        model.advanceClock(bySeconds: 5 * Self.day)
        _ = try model.refresh(caller, presenting: token).get()
        #expect(throws: Never.self) { try decide().get() }
        model.advanceClock(bySeconds: 15 * Self.day)
        let next = try #require(model.refreshToken(of: caller))
        _ = try model.refresh(caller, presenting: next).get()
        #expect(decide() == .failure(.erasurePlanChanged))
    }
}
