import LedgerTestSupport
import Testing

@testable import Ledger

/// Merges of accounts with second factors: all are asked for afterwards, and an undoing gives each side its own back.
@Suite struct MergeFactorTests {
    private static let sam = Principal(staff: StaffID(bits: 1), role: .support)
    private static let kim = Principal(staff: StaffID(bits: 2), role: .support)
    private static let (apple, google) = (subject("apple", "ada"), subject("google", "bob"))

    /// An account with its holder's newest session, and the factors if it has some.
    private struct Side {
        var caller: Caller
        var app = FactorID(bits: 0)
        var codes = FactorID(bits: 0)

        var account: AccountID { caller.account }
    }

    private struct Story {
        var scenario = Scenario()
        private var generator = SeededGenerator(seed: 11)
        var ada: Side
        var bob: Side

        /// Signs in two people, of whom some enrol an authenticator app.
        init(adaEnrols: Bool = true, bobEnrols: Bool = true) throws {
            ada = Side(caller: try scenario.given.signIn(MergeFactorTests.apple))
            bob = Side(caller: try scenario.given.signIn(MergeFactorTests.google))
            if adaEnrols { try enrol(\.ada) }
            if bobEnrols { try enrol(\.bob) }
        }

        mutating func enrol(_ side: WritableKeyPath<Story, Side>) throws {
            let command = EnrolFactor(by: self[keyPath: side].caller, &generator)
            _ = try scenario.when(command).result.get()
            self[keyPath: side] = Side(
                caller: Caller(account: command.caller.account, session: command.newSession),
                app: command.factor.id, codes: command.recoveryCodes.id)
        }

        /// Signs in with a second factor.
        mutating func signIn(
            _ subject: Subject, to account: AccountID, _ factor: FactorID, _ counter: Int64
        ) throws -> Result<Reply, Refusal> {
            let first = proof(subject)
            let command = SignIn(first, of: account, factor: factor, counter: counter, &generator)
            return try scenario.when(command).result
        }

        mutating func preview(_ authority: MergeAccounts.Authority) throws -> Scenario.Effects {
            try scenario.when(
                MergeAccounts.Preview(authority: authority, keepsAbsorbed: [], digest: sha256))
        }

        mutating func merge(
            _ authority: MergeAccounts.Authority, _ agreed: Digest
        ) throws -> Scenario.Effects {
            try scenario.when(
                MergeAccounts(
                    authority: authority, keepsAbsorbed: [], agreed: agreed, digest: sha256))
        }

        /// Merges Bob's account into Ada's, as the holder of both.
        mutating func merged() throws -> (plan: MergePlan, event: EventID) {
            let authority = MergeAccounts.Authority.holderOfBoth(ada.caller, bob.caller)
            let planned = try preview(authority).result.get()
            let digest = try #require(MergeAccounts.Preview.success(in: planned)).digest
            let done = try merge(authority, digest).result.get()
            let success = try #require(MergeAccounts.success(in: done)?.done)
            return (plan: success.plan, event: success.event)
        }

        func bySupport(
            _ principal: Principal, _ step: TwoPersonStep
        ) -> MergeAccounts.Authority {
            .support(
                .principal(principal),
                MergeAccounts.Case(
                    survivor: ada.account, absorbed: bob.account, reason: "r", reference: "c",
                    step: step))
        }

        mutating func undo(
            _ merge: EventID, by principal: Principal, _ step: TwoPersonStep
        ) throws -> Scenario.Effects {
            try scenario.when(
                UnmergeAccounts(
                    merge: merge, survivor: ada.account, absorbed: bob.account,
                    actor: .principal(principal), reason: "two people", caseReference: "8",
                    isPreview: false, step: step))
        }

        /// Undoes a merge by two persons.
        mutating func undone(_ merge: EventID) throws -> Scenario.Effects {
            let asked = try undo(merge, by: MergeFactorTests.sam, .ask(sha256))
            guard case .unmergeAsked(let digest) = try asked.result.get() else {
                throw ModelLedger.Unexpected(result: asked.result)
            }
            let request = TwoPersonStep.Request(asker: MergeFactorTests.sam, digest: digest)
            return try undo(merge, by: MergeFactorTests.kim, .confirm(request, sha256))
        }

        func factors(of account: AccountID) -> [FactorID]? {
            scenario.given.account(account)?.secondFactors
        }

        var liveSessions: Set<SessionID> {
            Set(
                scenario.given.state.ledger.sessions.values.filter { $0.endedPosition == nil }
                    .map(\.id))
        }

        /// Replays the log in the other folds and compares the factors of each.
        func replay() throws {
            let ledger = scenario.given.state.ledger
            var compact = CompactState(tenant: .default)
            var accounts = [
                ada.account: ReplayedAccount(ada.account, in: .default),
                bob.account: ReplayedAccount(bob.account, in: .default),
            ]
            for recording in scenario.given.log {
                try compact.fold(recording.recorded, leaf: recording.leaf)
                for reference in recording.recorded.accounts {
                    try accounts[reference.id]?.apply(recording.recorded, leaf: recording.leaf)
                }
            }
            var held: [FactorID: HeldFactor] = [:]
            compact.eachFactor { held[$0.id] = $0 }
            #expect(held == ledger.factors)
            for (id, account) in accounts {
                #expect(compact.secondFactors(of: id) == ledger.accounts[id]?.secondFactors)
                #expect(account.secondFactors == ledger.accounts[id]?.secondFactors)
                #expect(Set(account.sessions.map(\.id)) == ledger.liveSessions[id] ?? [])
            }
        }
    }

    @Test func `the holder of both merges them, and any factor completes every sign-in`() throws {
        var story = try Story()
        let (ada, bob) = (story.ada, story.bob)
        let (plan, event) = try story.merged()
        #expect(plan.keptFactors == [ada.app])
        #expect(Set(plan.factors.map(\.id)) == [bob.app, bob.codes])
        #expect(plan.secondFactors == [ada.app, bob.app] && plan.endedOpeners.isEmpty)
        guard case .accountsMerged(let fact)? = story.scenario.given.events.last else {
            Issue.record("not merged")
            return
        }
        #expect(fact.version == 2 && fact.factors == plan.factors && fact.asker == nil)
        #expect(story.factors(of: ada.account) == [ada.app, bob.app])
        #expect(story.liveSessions.contains(ada.caller.session))
        let (apple, google) = (Self.apple, Self.google)
        #expect(
            try story.scenario.when(
                SignIn(
                    proof(google), createAccount: false, refreshToken: .zero,
                    newAccount: AccountID(bits: 1), newIdentity: IdentityID(bits: 1),
                    newSession: SessionID(bits: 1))
            ).result
                == .failure(.secondFactorRequired(ada.account)))
        for (subject, factor, counter) in [
            (google, ada.app, 50), (apple, bob.app, 50), (google, bob.codes, 3),
            (apple, ada.codes, 3),
        ] as [(Subject, FactorID, Int64)] {
            _ = try story.signIn(subject, to: ada.account, factor, counter).get()
            #expect(
                try story.signIn(subject, to: ada.account, factor, counter)
                    == .failure(.invalidCode))
        }
        try story.replay()
        // Undone by two persons, each side has its own.
        let undone = try story.undone(event)
        guard case .accountsUnmerged(let undoing)? = undone.events.last else {
            Issue.record("not undone: \(undone)")
            return
        }
        #expect(undoing.version == 3 && Set(undoing.factors.map(\.id)) == [bob.app, bob.codes])
        #expect(story.factors(of: ada.account) == [ada.app])
        #expect(story.factors(of: bob.account) == [bob.app])
        #expect(
            try story.signIn(google, to: bob.account, ada.app, 60) == .failure(.invalidCode))
        #expect(
            try story.signIn(apple, to: ada.account, bob.app, 60) == .failure(.invalidCode))
        _ = try story.signIn(google, to: bob.account, bob.app, 60).get()
        #expect(
            try story.signIn(google, to: bob.account, bob.codes, 3) == .failure(.invalidCode))
        _ = try story.signIn(google, to: bob.account, bob.codes, 4).get()
        try story.replay()
    }

    @Test func `the first factor that a merge brings ends the survivor's sessions`() throws {
        var story = try Story(adaEnrols: false)
        let (plan, _) = try story.merged()
        #expect(plan.endedOpeners == plan.kept.map(\.identity))
        #expect(story.liveSessions.isEmpty)
        #expect(story.factors(of: story.ada.account) == [story.bob.app])
        _ = try story.signIn(Self.apple, to: story.ada.account, story.bob.app, 50).get()
        try story.replay()
    }

    @Test func `both sessions are recent and include the factor of their account`() throws {
        var story = try Story(adaEnrols: false)
        let bob = story.bob.caller
        // A proof of an identity does not include the factor.
        let credential = Credential(Self.google, digest: .zero)
        #expect(
            try story.preview(.accountHolder(story.ada.caller, credential))
                == refused(.secondFactorEnrolled))
        #expect(
            try story.preview(.holderOfBoth(bob, bob)) == refused(.sameAccount))
        story.scenario.given.advanceClock(bySeconds: 601)
        #expect(
            try story.preview(.holderOfBoth(story.ada.caller, bob))
                == refused(.reauthenticationRequired))
        let ada = try story.scenario.given.signIn(Self.apple)
        #expect(
            try story.preview(.holderOfBoth(ada, bob)) == refused(.reauthenticationRequired))
        _ = try story.scenario.when(SignOut(caller: bob, scope: .session)).result.get()
        #expect(
            try story.preview(.holderOfBoth(ada, bob)) == refused(.invalidProviderToken))
        #expect(try story.preview(.holderOfBoth(bob, ada)) == refused(.sessionEnded))
    }

    @Test func `a repeated merge is of the same account`() throws {
        var story = try Story()
        _ = try story.merged()
        #expect(
            try story.preview(.holderOfBoth(story.ada.caller, story.bob.caller))
                == refused(.sameAccount))
    }

    @Test func `support merges accounts with factors by two persons`() throws {
        for (ada, bob) in [(true, false), (false, true), (true, true)] {
            var story = try Story(adaEnrols: ada, bobEnrols: bob)
            #expect(
                try story.preview(story.bySupport(Self.sam, .alone))
                    == refused(.secondFactorEnrolled))
            let planned = try story.preview(story.bySupport(Self.sam, .ask(sha256))).result.get()
            let plan = try #require(MergeAccounts.Preview.success(in: planned))
            #expect(
                try story.merge(story.bySupport(Self.sam, .ask(sha256)), .zero)
                    == refused(.mergePlanChanged))
            let asked = try story.merge(story.bySupport(Self.sam, .ask(sha256)), plan.digest)
            #expect(asked.events.isEmpty)
            guard case .mergeAsked(let digest) = try asked.result.get() else { return }
            let step = TwoPersonStep.confirm(
                TwoPersonStep.Request(asker: Self.sam, digest: digest), sha256)
            let own = story.bySupport(Self.sam, step)
            #expect(try story.merge(own, plan.digest) == refused(.secondPersonRequired))
            let forged = TwoPersonStep.confirm(
                TwoPersonStep.Request(asker: Self.kim, digest: digest), sha256)
            #expect(
                try story.merge(story.bySupport(Self.sam, forged), plan.digest)
                    == refused(.mergePlanChanged))
            let done = try story.merge(story.bySupport(Self.kim, step), plan.digest)
            guard case .accountsMerged(let fact)? = done.events.last else {
                Issue.record("not merged: \(done)")
                return
            }
            #expect(fact.asker == Self.sam && fact.version == 2)
            try story.replay()
        }
    }

    @Test func `an account that absorbed an older factor is merged and released in its own order`()
        throws
    {
        var story = try Story(adaEnrols: false)
        // Ada's account absorbs Eve's, whose factor is older than her own.
        var generator = SeededGenerator(seed: 4)
        let eve = try story.scenario.given.signIn(subject("facebook", "eve"))
        let older = EnrolFactor(by: eve, &generator)
        _ = try story.scenario.when(older).result.get()
        try story.enrol(\.ada)
        let other = story.ada
        story.bob = Side(caller: Caller(account: eve.account, session: older.newSession))
        _ = try story.merged()
        #expect(story.factors(of: other.account) == [other.app, older.factor.id])
        let carol = try story.scenario.given.signIn(subject("apple", "carol"))
        (story.ada, story.bob) = (Side(caller: carol), other)
        let (plan, event) = try story.merged()
        #expect(plan.factors.required == [other.app, older.factor.id])
        let undone = try story.undone(event)
        #expect(undone.events.last?.name == .accountsUnmerged)
        #expect(story.factors(of: other.account) == [other.app, older.factor.id])
        #expect(story.factors(of: carol.account) == [])
    }

    @Test func `an undoing is refused once a factor that moved was removed`() throws {
        var story = try Story()
        let (_, event) = try story.merged()
        let removal = RemoveFactor(story.bob.app, by: .accountHolder(story.ada.caller))
        _ = try story.scenario.when(removal).result.get()
        #expect(story.factors(of: story.ada.account) == [story.ada.app])
        #expect(
            try story.undo(event, by: Self.sam, .ask(sha256))
                == refused(.mergeSuperseded(.identityChanged)))
        try story.replay()
    }

    @Test func `an undoing that leaves recovery codes without a factor is refused`() throws {
        var story = try Story(adaEnrols: false)
        let (_, event) = try story.merged()
        let signedIn = try story.signIn(
            Self.apple, to: story.ada.account, story.bob.app, 50
        ).get()
        guard case .signedIn(let grant, _) = signedIn else { return }
        let caller = Caller(account: grant.account, session: grant.session)
        var generator = SeededGenerator(seed: 5)
        let renewed = EnrolFactor(.recoveryCodes, by: caller, &generator)
        _ = try story.scenario.when(renewed).result.get()
        #expect(
            try story.undo(event, by: Self.sam, .ask(sha256))
                == refused(.mergeSuperseded(.identityChanged)))
        try story.replay()
    }

    @Test func `new recovery codes void those of both accounts, and the last factor takes all`()
        throws
    {
        var story = try Story()
        _ = try story.merged()
        var generator = SeededGenerator(seed: 5)
        let renewed = EnrolFactor(.recoveryCodes, by: story.ada.caller, &generator)
        _ = try story.scenario.when(renewed).result.get()
        let codes = { (story: Story) in
            story.scenario.given.state.recoveryCodes(of: story.ada.account).map(\.id)
        }
        #expect(codes(story) == [renewed.factor.id])
        try story.replay()
        for app in [story.bob.app, story.ada.app] {
            let removal = RemoveFactor(app, by: .accountHolder(story.ada.caller))
            _ = try story.scenario.when(removal).result.get()
        }
        #expect(codes(story).isEmpty && story.factors(of: story.ada.account) == [])
        try story.replay()
    }

    @Test func `a merge ends the planned removal of a factor that it moves`() throws {
        var story = try Story()
        let plan = PlanFactorRemoval(
            .plan, of: story.bob.app, of: story.bob.account, actor: .principal(Self.sam))
        _ = try story.scenario.when(plan).result.get()
        _ = try story.merged()
        let factor = story.scenario.given.state.ledger.factors[story.bob.app]
        #expect(factor?.removalDue == nil && factor?.holder == story.ada.account)
        try story.replay()
    }

    @Test func `the log refuses merges whose factors or persons cannot be`() throws {
        var story = try Story()
        let state = story.scenario.given.state.ledger
        let (ada, bob) = (story.ada.account, story.bob.account)
        let links = [ada, bob].map { state.accounts[$0]?.links ?? [] }
        let factors = story.scenario.given.state.factors(of: bob).map(MergedFactor.init)
        let foreign = story.scenario.given.state.factors(of: ada).map(MergedFactor.init)
        let supporter = Actor.principal(Self.kim)
        let holder = Actor.account(ada, session: story.ada.caller.session)
        func fault(
            _ cause: AccountsMerged.Cause, _ factors: [MergedFactor], _ asker: Principal?,
            by actor: Actor
        ) -> Bool {
            var ledger = state
            let event = Event.accountsMerged(
                AccountsMerged(
                    survivor: ada, absorbed: bob, cause: cause, moved: links[1], dropped: [],
                    replaced: [], links: links[0] + links[1], factors: factors, plan: .zero,
                    asker: asker))
            let recorded = RecordedEvent(
                tenant: .default, position: ledger.nextPosition, id: EventID(bits: 1),
                recordedAt: ledger.lastRecordedAt, actor: actor, command: CommandID(bits: 2),
                request: nil, accounts: [ada, bob].map { ledger.reference(to: $0) },
                disclosureDigests: [], event: event)
            do { try ledger.apply(recorded, leaf: .zero) } catch { return true }
            return false
        }
        #expect(!fault(.accountHolder, factors, nil, by: holder))
        #expect(!fault(.support, factors, Self.sam, by: supporter))
        #expect(fault(.accountHolder, [], nil, by: holder))
        #expect(fault(.accountHolder, factors + foreign, nil, by: holder))
        #expect(fault(.accountHolder, factors + factors, nil, by: holder))
        #expect(fault(.support, factors, nil, by: supporter))
        #expect(fault(.support, factors, Self.kim, by: supporter))
        #expect(fault(.support, factors, Self.sam, by: .system))
        _ = try story.merged()
    }
}
