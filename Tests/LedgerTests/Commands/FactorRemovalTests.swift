import LedgerTestSupport
import Testing

@testable import Ledger

/// Removals of lost second factors by support: planned, stopped, and done when they are due.
struct FactorRemovalTests {
    private static let now = Timestamp(seconds: 1_790_000_000)

    /// An account with an authenticator app.
    private struct Story {
        var scenario = Scenario()
        var generator = SeededGenerator(seed: 5)
        let enrolled: EnrolFactor
        let holder: Caller

        var account: AccountID { holder.account }
        var factor: FactorID { enrolled.factor.id }

        init() throws {
            let signIn = SignIn(
                proof(subject("apple", "ada"), authenticatedAt: FactorRemovalTests.now),
                createAccount: true, refreshToken: .zero, newAccount: generator.id(),
                newIdentity: generator.id(), newSession: generator.id())
            let opened = try scenario.when(signIn).result.get()
            let grant = try #require(SignIn.success(in: opened)).grant
            enrolled = EnrolFactor(
                by: Caller(account: grant.account, session: grant.session), &generator)
            holder = Caller(account: grant.account, session: enrolled.newSession)
            _ = try scenario.when(enrolled).result.get()
        }

        func change(
            _ change: PlanFactorRemoval.Change, _ factor: FactorID? = nil
        ) -> PlanFactorRemoval {
            PlanFactorRemoval(
                change, of: factor ?? self.factor, of: account, actor: .system,
                reason: "lost phone", caseReference: "5")
        }

        func plan(due: Timestamp?) -> PlanFactorRemoval.Plan? {
            PlanFactorRemoval.Plan(
                account: account, factor: factor, kind: .totp, due: due, keepsFactor: false)
        }

        /// Executes a command some seconds after the others.
        mutating func when(
            _ request: some LedgerRequest, after seconds: Int64
        ) throws -> [Event] {
            let count = scenario.given.events.count
            let command = Command(
                id: generator.id(), tenant: .default,
                origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
                intent: request.intent)
            _ = try scenario.given.execute(
                command, at: FactorRemovalTests.now.adding(seconds: seconds))
            return Array(scenario.given.events[count...])
        }
    }

    @Test func `a lost factor is removed when a day has passed`() throws {
        var story = try Story()
        let planned = try story.scenario.when(story.change(.plan))
        let plan = try #require(PlanFactorRemoval.success(in: try planned.result.get())).plan
        let due = try #require(plan.due)
        #expect(
            planned.events == [
                .secondFactorRemovalPlanned(
                    SecondFactorRemovalPlanned(
                        account: story.account, due: due, factor: story.factor, kind: .totp))
            ])
        let again = try #require(story.plan(due: due))
        #expect(
            try story.scenario.when(story.change(.plan)) == then(.factorRemovalUnchanged(again)))
        let removal = RemoveFactor(story.factor, by: .planned(story.account))
        #expect(try story.scenario.when(removal) == refused(.unknownFactor))
        #expect(try story.when(removal, after: 86_399).isEmpty)
        let events = try story.when(removal, after: 86_500)
        #expect(
            events == [
                .secondFactorRemoved(
                    SecondFactorRemoved(
                        account: story.account, cause: .support, factor: story.factor, kind: .totp)),
                .secondFactorRemoved(
                    SecondFactorRemoved(
                        account: story.account, cause: .support,
                        factor: story.enrolled.recoveryCodes.id, kind: .recoveryCodes)),
            ])
        #expect(try story.when(removal, after: 86_600).isEmpty)
    }

    @Test func `the rules say after how many hours a factor is removed`() throws {
        var story = try Story()
        story.scenario.given.policy.supportDelayHours = 2
        _ = try story.scenario.when(story.change(.plan)).result.get()
        // A plan that exists keeps its time.
        story.scenario.given.policy.supportDelayHours = 168
        let removal = RemoveFactor(story.factor, by: .planned(story.account))
        #expect(try story.when(removal, after: 7_199).isEmpty)
        #expect(try story.when(removal, after: 7_300).count == 2)
    }

    @Test func `the holder, support and a sign-in with the factor stop it`() throws {
        let ways: [(inout Story) throws -> [Event]] = [
            { try $0.scenario.when(RemoveFactor($0.factor, by: .keptByHolder($0.holder))).events },
            { try $0.scenario.when($0.change(.stop)).events },
            { story in
                let signIn = SignIn(
                    proof(subject("apple", "ada")), of: story.account, factor: story.factor,
                    counter: 42, &story.generator)
                return try story.scenario.when(signIn).events
            },
        ]
        for (way, cause) in zip(ways, [SecondFactorRemovalStopped.Cause.holder, .support, .used]) {
            var story = try Story()
            _ = try story.scenario.when(story.change(.plan)).result.get()
            #expect(
                try way(&story).first
                    == .secondFactorRemovalStopped(
                        SecondFactorRemovalStopped(
                            account: story.account, cause: cause, factor: story.factor)))
            let removal = RemoveFactor(story.factor, by: .planned(story.account))
            #expect(try story.when(removal, after: 90_000).isEmpty)
        }
    }

    @Test func `a disabled account loses no factor, and the day starts again`() throws {
        var story = try Story()
        func access(_ change: ChangeAccess.Change) -> ChangeAccess {
            ChangeAccess(
                change, of: story.account, actor: .system, reason: "attack", caseReference: "6")
        }
        _ = try story.scenario.when(story.change(.plan)).result.get()
        _ = try story.scenario.when(access(.disable)).result.get()
        let removal = RemoveFactor(story.factor, by: .planned(story.account))
        #expect(try story.when(removal, after: 90_000).isEmpty)
        let enabled = try story.when(access(.enable), after: 90_001)
        #expect(
            enabled.last
                == .secondFactorRemovalStopped(
                    SecondFactorRemovalStopped(
                        account: story.account, cause: .support, factor: story.factor)))
        #expect(enabled.count == 2)
        #expect(try story.when(removal, after: 90_002).isEmpty)
    }

    @Test func `a recovery code does not stop it`() throws {
        var story = try Story()
        _ = try story.scenario.when(story.change(.plan)).result.get()
        let signIn = SignIn(
            proof(subject("apple", "ada")), of: story.account,
            factor: story.enrolled.recoveryCodes.id, counter: 0, &story.generator)
        #expect(
            try story.scenario.when(signIn).events.map(\.name) == [.recoveryCodeUsed, .signedIn])
        let removal = RemoveFactor(story.factor, by: .planned(story.account))
        #expect(try story.when(removal, after: 90_000).count == 2)
    }

    @Test func `the removal of an unknown factor is neither planned nor stopped`() throws {
        var story = try Story()
        let nothing = try #require(story.plan(due: nil))
        #expect(
            try story.scenario.when(story.change(.stop))
                == then(.factorRemovalUnchanged(nothing)))
        #expect(
            try story.scenario.when(RemoveFactor(story.factor, by: .keptByHolder(story.holder)))
                == refused(.unknownFactor))
        for factor in [FactorID(bits: 1), story.enrolled.recoveryCodes.id] {
            #expect(
                try story.scenario.when(story.change(.plan, factor)) == refused(.unknownFactor))
        }
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        let other = PlanFactorRemoval(
            .plan, of: story.factor, of: bob.account, actor: .system)
        #expect(try story.scenario.when(other) == refused(.unknownFactor))
        let unknown = PlanFactorRemoval(
            .plan, of: story.factor, of: AccountID(bits: 1), actor: .system)
        #expect(try story.scenario.when(unknown) == refused(.unknownAccount))
    }

    @Test func `the log has no removal that was not planned`() throws {
        let story = try Story()
        let events: [Event] = [
            .secondFactorRemoved(
                SecondFactorRemoved(
                    account: story.account, cause: .support, factor: story.factor, kind: .totp)),
            .secondFactorRemovalStopped(
                SecondFactorRemovalStopped(
                    account: story.account, cause: .used, factor: story.factor)),
            .secondFactorRemovalPlanned(
                SecondFactorRemovalPlanned(
                    account: story.account, due: Self.now.adding(seconds: -5),
                    factor: story.factor, kind: .totp)),
        ]
        for event in events {
            var ledger = story.scenario.given.state.ledger
            let known = try #require(ledger.accounts[story.account])
            let recorded = RecordedEvent(
                tenant: .default, position: ledger.nextPosition, id: EventID(bits: 1),
                recordedAt: ledger.lastRecordedAt, actor: .system, command: CommandID(bits: 2),
                request: nil,
                accounts: [
                    AccountReference(
                        id: story.account, previous: known.lastLeaf, sequence: known.nextSequence)
                ], disclosureDigests: [], event: event)
            #expect(throws: FoldFault.self, "\(event)") { try ledger.apply(recorded, leaf: .zero) }
        }
    }
}
