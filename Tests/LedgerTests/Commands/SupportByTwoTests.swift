import LedgerTestSupport
import Testing

@testable import Ledger

/// Unlinks and removals of factors that support planned and a second person does at once.
@Suite struct SupportByTwoTests {
    private static let sam = Principal(staff: StaffID(bits: 1), role: .support)
    private static let kim = Principal(staff: StaffID(bits: 2), role: .support)

    /// The plans that two persons may do at once.
    enum Kind: CaseIterable, Sendable {
        case removal
        case unlink
    }

    /// Ada's account with Apple, Google and an authenticator app; support unlinks Google or removes the app.
    private struct Story {
        let kind: Kind
        var scenario: Scenario
        let account: AccountID
        private let identity = IdentityID(bits: 900)
        private let enrolled: EnrolFactor

        init(_ kind: Kind, isRuled: Bool? = true) throws {
            self.kind = kind
            scenario = Scenario { $0.supportNeedsTwo = isRuled == true }
            let ada = try scenario.given.signIn(subject("apple", "ada"))
            account = ada.account
            if isRuled != nil {
                let rules = SetRules(scenario.given.policy, condition: .noneRecorded)
                _ = try scenario.when(.setRules(rules)).result.get()
            }
            let link = LinkProvider(
                caller: ada, credential: Credential(subject("google", "ada"), digest: .zero),
                idempotency: nil, newIdentity: identity)
            _ = try scenario.when(link).result.get()
            var generator = SeededGenerator(seed: 7)
            enrolled = EnrolFactor(by: ada, &generator)
            _ = try scenario.when(enrolled).result.get()
        }

        mutating func plan(
            by principal: Principal, _ step: TwoPersonStep
        ) throws -> Scenario.Effects {
            let change = SupportChange(
                .plan, of: account, actor: .principal(principal), reason: "lost phone",
                caseReference: "7", step: step)
            return switch kind {
            case .removal:
                try scenario.when(PlanFactorRemoval(change, of: enrolled.factor.id))
            case .unlink: try scenario.when(PlanUnlink(change, of: identity))
            }
        }

        /// Plans it, and returns the step that confirms the request.
        mutating func ask(by principal: Principal) throws -> TwoPersonStep {
            let reply = try plan(by: principal, .ask(sha256)).result.get()
            let digest =
                PlanUnlink.success(in: reply)?.plan.request
                ?? PlanFactorRemoval.success(in: reply)?.plan.request
            return .confirm(
                TwoPersonStep.Request(asker: principal, digest: try #require(digest)), sha256)
        }

        /// The end of the identity or of the app.
        func event(_ effect: PlanEffect) -> Event {
            switch kind {
            case .removal: removed(enrolled.factor, effect)
            case .unlink:
                .providerUnlinked(
                    ProviderUnlinked(
                        account: account, identity: identity, provider: provider("google"),
                        cause: .support, effect: effect))
            }
        }

        var codes: NewFactor { enrolled.recoveryCodes }

        func removed(_ factor: NewFactor, _ effect: PlanEffect) -> Event {
            .secondFactorRemoved(
                SecondFactorRemoved(
                    account: account, cause: .support, factor: factor.id, kind: factor.kind,
                    effect: effect))
        }

        /// Folds a forged event after the others.
        func fold(_ event: Event, by actor: Actor, after seconds: Int64 = 1) throws(FoldFault) {
            var ledger = scenario.given.state.ledger
            let known = ledger.accounts[account]
            let recorded = RecordedEvent(
                tenant: .default, position: ledger.nextPosition, id: EventID(bits: 1),
                recordedAt: ledger.lastRecordedAt.adding(seconds: seconds), actor: actor,
                command: CommandID(bits: 2), request: nil,
                accounts: [
                    AccountReference(
                        id: account, previous: known?.lastLeaf,
                        sequence: known?.nextSequence ?? 0)
                ], disclosureDigests: [], event: event)
            try ledger.apply(recorded, leaf: .zero)
        }

        func expectFault(
            _ event: Event, by actor: Actor, after seconds: Int64 = 1,
            _ location: SourceLocation = #_sourceLocation
        ) {
            #expect(throws: FoldFault.self, "\(event) by \(actor)", sourceLocation: location) {
                try fold(event, by: actor, after: seconds)
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func `the event of a second person names the first one, and every fold follows it`(
        kind: Kind
    ) throws {
        var story = try Story(kind)
        let step = try story.ask(by: Self.sam)
        #expect(try story.plan(by: Self.sam, step) == refused(.secondPersonRequired))
        let events = try story.plan(by: Self.kim, step).events
        var expected = [story.event(.confirmed(asker: Self.sam))]
        if kind == .removal {
            expected.append(story.removed(story.codes, .confirmed(asker: Self.sam)))
        }
        #expect(events == expected)
        var compact = CompactState(tenant: .default)
        var replayed = ReplayedAccount(story.account, in: .default)
        for recording in story.scenario.given.log {
            let recorded = recording.recorded
            #expect(try EntryEncoding.decode(recording.entry) == recorded)
            try compact.apply(recorded, leaf: recording.leaf)
            if recorded.accounts.contains(where: { $0.id == story.account }) {
                try replayed.apply(recorded, leaf: recording.leaf)
            }
        }
        let account = try #require(story.scenario.given.account(story.account))
        #expect(replayed.links == account.links)
        #expect(replayed.secondFactors == account.secondFactors)
    }

    @Test(arguments: Kind.allCases)
    func `the log has no effect before its time without a second person`(kind: Kind) throws {
        var story = try Story(kind)
        let kim = Actor.principal(Self.kim)
        let confirmed = story.event(.confirmed(asker: Self.sam))
        story.expectFault(confirmed, by: kim)
        _ = try story.ask(by: Self.sam)
        try story.fold(confirmed, by: kim)
        let asAdmin = Principal(staff: StaffID(bits: 1), role: .admin)
        for actor in [
            Actor.principal(Self.sam), .principal(asAdmin), .system,
            .account(story.account, session: nil),
        ] {
            story.expectFault(confirmed, by: actor)
        }
        // Without a request.
        story.expectFault(story.event(.due), by: kim)
        story.expectFault(story.event(.due), by: .system)
        try story.fold(story.event(.due), by: .system, after: 86_401)
        // As the releases before wrote it.
        try story.fold(story.event(.unstated), by: kim)
        story.expectFault(story.event(.unstated), by: .system)
        try story.fold(story.event(.unstated), by: .system, after: 86_401)
    }

    @Test(arguments: Kind.allCases, [false, nil])
    func `the log has no effect before its time in a tenant without the rule`(
        kind: Kind, isRuled: Bool?
    ) throws {
        var story = try Story(kind, isRuled: isRuled)
        _ = try story.plan(by: Self.sam, .ask(sha256)).result.get()
        for effect in [PlanEffect.confirmed(asker: Self.sam), .due, .unstated] {
            story.expectFault(story.event(effect), by: .principal(Self.kim))
        }
        try story.fold(story.event(.due), by: .system, after: 86_401)
    }

    @Test func `recovery codes are removed by support with the last factor alone`() throws {
        var story = try Story(.removal)
        let step = try story.ask(by: Self.sam)
        for effect in [PlanEffect.confirmed(asker: Self.sam), .due, .unstated] {
            story.expectFault(
                story.removed(story.codes, effect), by: .principal(Self.kim), after: 86_401)
        }
        #expect(try story.plan(by: Self.kim, step).events.count == 2)
    }

    @Test(arguments: Kind.allCases)
    func `nothing takes effect while the account is disabled`(kind: Kind) throws {
        var story = try Story(kind)
        _ = try story.ask(by: Self.sam)
        let disable = ChangeAccess(
            .disable, of: story.account, actor: .system, reason: "r", caseReference: "c")
        _ = try story.scenario.when(disable).result.get()
        story.expectFault(story.event(.confirmed(asker: Self.sam)), by: .principal(Self.kim))
        story.expectFault(story.event(.due), by: .system, after: 86_401)
    }
}
