import LedgerTestSupport
import Testing

@testable import Ledger

/// The undoing of a merge into an account with a second factor, which two persons of support agree to.
@Suite struct UnmergeByTwoTests {
    private static let sam = Principal(staff: StaffID(bits: 1), role: .support)
    private static let kim = Principal(staff: StaffID(bits: 2), role: .support)

    /// Ada absorbed Bob, and enrolled a factor then.
    private struct Story {
        var scenario = Scenario {
            $0.providers[provider("phone")] = ProviderPin(type: .phone, issuers: [])
        }
        private var generator = SeededGenerator(seed: 7)
        var ada: Caller
        let bob: Caller
        let merge: EventID
        let factor: FactorID

        init(
            survivor: Subject = subject("apple", "ada"), enrols kind: FactorKind = .totp,
            after earlier: Subject? = nil
        ) throws {
            if let earlier { _ = try scenario.given.signIn(earlier) }
            ada = try scenario.given.signIn(survivor)
            bob = try scenario.given.signIn(subject("facebook", "bob"))
            let authority = MergeAccounts.Authority.support(
                .system,
                MergeAccounts.Case(
                    survivor: ada.account, absorbed: bob.account, reason: "r", reference: "c"))
            let planned = try scenario.when(
                MergeAccounts.Preview(authority: authority, keepsAbsorbed: [], digest: sha256))
            let plan = try #require(MergeAccounts.Preview.success(in: try planned.result.get()))
            let merged = try scenario.when(
                MergeAccounts(
                    authority: authority, keepsAbsorbed: [], agreed: plan.digest, digest: sha256))
            merge = try #require(MergeAccounts.success(in: try merged.result.get())?.done).event
            let enrolled = EnrolFactor(kind, by: ada, &generator)
            factor = enrolled.factor.id
            _ = try scenario.when(enrolled).result.get()
            ada = Caller(account: ada.account, session: enrolled.newSession)
        }

        mutating func undo(
            by principal: Principal, _ step: TwoPersonStep
        ) throws -> Scenario.Effects {
            try scenario.when(
                UnmergeAccounts(
                    merge: merge, survivor: ada.account, absorbed: bob.account,
                    actor: .principal(principal), reason: "two people", caseReference: "8",
                    isPreview: false, step: step))
        }

        mutating func preview(
            by principal: Principal, _ step: TwoPersonStep
        ) throws -> Scenario.Effects {
            try scenario.when(
                UnmergeAccounts.Preview(
                    merge: merge, survivor: ada.account, absorbed: bob.account,
                    actor: .principal(principal), step: step))
        }

        /// Asks for the undoing.
        mutating func ask(by principal: Principal) throws -> TwoPersonStep {
            let asked = try undo(by: principal, .ask(sha256))
            #expect(asked.events.isEmpty)
            let answer = try #require(UnmergeAccounts.success(in: try asked.result.get()))
            guard case .asked(let digest) = answer else {
                throw ModelLedger.Unexpected(result: asked.result)
            }
            return .confirm(
                TwoPersonStep.Request(asker: principal, digest: digest), sha256)
        }

        /// Enrols another factor.
        mutating func enrol() throws {
            _ = try scenario.when(EnrolFactor(by: ada, &generator)).result.get()
        }
    }

    @Test func `one person only asks, the same one cannot confirm, and another one undoes`() throws
    {
        var story = try Story()
        let preview = try story.preview(by: Self.sam, .ask(sha256))
        let planned = try #require(UnmergeAccounts.Preview.success(in: try preview.result.get()))
        #expect(planned.needsTwo)
        #expect(try story.undo(by: Self.sam, .alone) == refused(.secondFactorEnrolled))
        let step = try story.ask(by: Self.sam)
        for role in [Role.support, .admin] {
            let same = Principal(staff: StaffID(bits: 1), role: role)
            #expect(try story.preview(by: same, step) == refused(.secondPersonRequired))
            #expect(try story.undo(by: same, step) == refused(.secondPersonRequired))
        }
        #expect(
            try story.preview(by: Self.kim, step)
                == then(.unmergePlanned(planned.plan, needsTwo: true)))
        let undone = try story.undo(by: Self.kim, step)
        let recorded = try #require(story.scenario.given.log.last).recorded
        #expect(
            undone
                == then(
                    .unmerged(planned.plan, recorded.id),
                    .accountsUnmerged(
                        AccountsUnmerged(
                            survivor: story.ada.account, absorbed: story.bob.account,
                            merge: story.merge, returned: planned.plan.returned,
                            restored: [], links: planned.plan.links, asker: Self.sam))))
        #expect(recorded.actor == .principal(Self.kim))
        #expect(story.scenario.given.account(story.ada.account)?.secondFactors == [story.factor])
        #expect(story.scenario.given.account(story.bob.account)?.secondFactors == [])
        #expect(try story.undo(by: Self.kim, step) == refused(.mergeSuperseded(.notActive)))
    }

    @Test func `both persons are in the entry, and a replay has the same accounts`() throws {
        var story = try Story()
        let step = try story.ask(by: Self.sam)
        _ = try story.undo(by: Self.kim, step).result.get()
        let recording = try #require(story.scenario.given.log.last)
        let read = try EntryEncoding.decode(recording.entry)
        #expect(read == recording.recorded)
        guard case .accountsUnmerged(let fact) = read.event else {
            Issue.record("another event: \(read.event)")
            return
        }
        #expect(fact.version == 2 && fact.asker == Self.sam)
        for account in [story.ada.account, story.bob.account] {
            var replayed = ReplayedAccount(account, in: .default)
            for recording in story.scenario.given.log
            where recording.recorded.accounts.contains(where: { $0.id == account }) {
                try replayed.apply(recording.recorded, leaf: recording.leaf)
            }
            let now = try #require(story.scenario.given.account(account))
            #expect(replayed.links == now.links && replayed.secondFactors == now.secondFactors)
        }
    }

    @Test func `a request is of one plan, one asker and one merge`() throws {
        var story = try Story()
        guard case .confirm(let request?, _) = try story.ask(by: Self.sam) else { return }
        let key = Principal(key: APIKeyID(bits: 1), role: .support)
        for forged in [
            nil, TwoPersonStep.Request(asker: Self.sam, digest: .zero),
            TwoPersonStep.Request(asker: key, digest: request.digest),
        ] {
            let step = TwoPersonStep.confirm(forged, sha256)
            #expect(try story.preview(by: Self.kim, step) == refused(.mergePlanChanged))
            #expect(try story.undo(by: Self.kim, step) == refused(.mergePlanChanged))
        }
        var other = try Story(after: subject("apple", "eve"))
        #expect(
            try other.undo(by: Self.kim, .confirm(request, sha256)) == refused(.mergePlanChanged))
    }

    @Test func `a change of the factors or of the links after the request refuses`() throws {
        var story = try Story()
        let first = try story.ask(by: Self.sam)
        try story.enrol()
        #expect(try story.undo(by: Self.kim, first) == refused(.mergePlanChanged))
        let second = try story.ask(by: Self.sam)
        let link = LinkProvider(
            caller: story.ada,
            credential: Credential(subject("google", "ada"), digest: .zero), idempotency: nil,
            newIdentity: IdentityID(bits: 900))
        _ = try story.scenario.when(link).result.get()
        #expect(try story.undo(by: Self.kim, second) == refused(.mergePlanChanged))
        let third = try story.ask(by: Self.sam)
        #expect(try story.undo(by: Self.kim, third).events.count == 1)
    }

    @Test func `a request confirms nothing once the account has no factor`() throws {
        var story = try Story()
        let step = try story.ask(by: Self.sam)
        let removal = RemoveFactor(story.factor, by: .accountHolder(story.ada))
        _ = try story.scenario.when(removal).result.get()
        #expect(try story.undo(by: Self.kim, step) == refused(.mergePlanChanged))
        let undone = try story.undo(by: Self.kim, .ask(sha256))
        guard case .accountsUnmerged(let fact)? = undone.events.first else {
            Issue.record("\(undone)")
            return
        }
        #expect(fact.asker == nil && fact.version == 1, "one person is enough then")
    }

    @Test func `an undoing leaves no factor that can follow no way to sign in`() throws {
        var story = try Story(survivor: subject("phone", "ada"), enrols: .phone)
        #expect(
            try story.undo(by: Self.sam, .ask(sha256))
                == refused(.mergeSuperseded(.noWayToSignIn)))
    }
}
