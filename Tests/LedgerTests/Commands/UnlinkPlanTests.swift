import LedgerTestSupport
import Testing

@testable import Ledger

/// Unlinks by support: planned, stopped, and done when they are due.
struct UnlinkPlanTests {
    private static let now = Timestamp(seconds: 1_790_000_000)

    /// Ada's account with Apple and Google; support unlinks Google.
    private struct Story {
        var scenario = Scenario { $0.severalPerProvider = true }
        var generator = SeededGenerator(seed: 5)
        let holder: Caller
        let identity: IdentityID

        var account: AccountID { holder.account }

        init() throws {
            holder = try scenario.given.signIn(subject("apple", "ada"))
            identity = generator.id()
            try link("google", "ada", identity)
        }

        mutating func link(
            _ name: String, _ subjectName: String, _ identity: IdentityID
        ) throws {
            let link = LinkProvider(
                caller: holder,
                credential: Credential(subject(name, subjectName), digest: .zero),
                idempotency: nil, newIdentity: identity)
            _ = try scenario.when(link).result.get()
        }

        func change(_ change: PlanUnlink.Change, _ identity: IdentityID? = nil) -> PlanUnlink {
            PlanUnlink(
                change, of: identity ?? self.identity, of: account, actor: .system,
                reason: "not theirs", caseReference: "5")
        }

        func plan(due: Timestamp?, _ providers: [String]) -> PlanUnlink.Plan {
            PlanUnlink.Plan(
                account: account, identity: identity, provider: provider("google"), due: due,
                linkedProviders: providers.map(provider))
        }

        var keep: EndUnlinkPlan { EndUnlinkPlan(of: identity, .kept(holder)) }
        var due: EndUnlinkPlan { EndUnlinkPlan(of: identity, .due(account)) }
        var apple: IdentityID {
            get throws {
                try #require(scenario.given.identities(of: holder, "apple").first)
            }
        }

        func stopped(_ cause: ProviderUnlinkStopped.Cause) -> Event {
            .providerUnlinkStopped(
                ProviderUnlinkStopped(
                    account: account, cause: cause, identity: identity,
                    provider: provider("google")))
        }

        /// When the identity is unlinked, by the state.
        var unlinkDue: Timestamp? { scenario.given.state.ledger.identities[identity]?.unlinkDue }

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
                command, at: UnlinkPlanTests.now.adding(seconds: seconds))
            return Array(scenario.given.events[count...])
        }

        mutating func planned() throws {
            _ = try scenario.when(change(.plan)).result.get()
        }
    }

    @Test func `an identity is unlinked when a day has passed`() throws {
        var story = try Story()
        let planned = try story.scenario.when(story.change(.plan))
        let plan = try #require(PlanUnlink.success(in: try planned.result.get())).plan
        let due = try #require(plan.due)
        #expect(plan == story.plan(due: due, ["apple"]))
        #expect(
            planned.events == [
                .providerUnlinkPlanned(
                    ProviderUnlinkPlanned(
                        account: story.account, due: due, identity: story.identity,
                        provider: provider("google")))
            ])
        #expect(story.unlinkDue == due)
        #expect(try story.scenario.when(story.change(.plan)) == then(.unlinkUnchanged(plan)))
        #expect(
            try story.scenario.when(
                PlanUnlink.Preview(
                    of: story.identity, of: story.account, actor: .system))
                == then(.unlinkPreviewed(plan)))
        #expect(try story.scenario.when(story.due) == refused(.providerNotLinked))
        #expect(try story.when(story.due, after: 86_399).isEmpty)
        #expect(
            try story.when(story.due, after: 86_500) == [
                .providerUnlinked(
                    ProviderUnlinked(
                        account: story.account, identity: story.identity,
                        provider: provider("google"), cause: .support))
            ])
        #expect(story.unlinkDue == nil)
        #expect(try story.when(story.due, after: 86_600).isEmpty)
    }

    @Test func `the rules say after how many hours an identity is unlinked`() throws {
        var story = try Story()
        story.scenario.given.policy.supportDelayHours = 2
        try story.planned()
        // A plan that exists keeps its time.
        story.scenario.given.policy.supportDelayHours = 168
        #expect(try story.when(story.due, after: 7_199).isEmpty)
        #expect(try story.when(story.due, after: 7_300).count == 1)
    }

    @Test func `the holder and support stop it, and a sign-in with the identity does not`() throws {
        var kept = try Story()
        try kept.planned()
        #expect(
            try kept.scenario.when(kept.keep)
                == then(.unlinkPlanEnded(.stopped), kept.stopped(.holder)))
        #expect(try kept.scenario.when(kept.keep) == refused(.providerNotLinked))
        #expect(try kept.when(kept.due, after: 90_000).isEmpty)

        var stopped = try Story()
        try stopped.planned()
        #expect(
            try stopped.scenario.when(stopped.change(.stop)).events == [stopped.stopped(.support)])
        let nothing = stopped.plan(due: nil, ["apple", "google"])
        #expect(
            try stopped.scenario.when(stopped.change(.stop)) == then(.unlinkUnchanged(nothing)))
        #expect(try stopped.when(stopped.due, after: 90_000).isEmpty)

        var used = try Story()
        try used.planned()
        _ = try used.scenario.given.signIn(subject("google", "ada"))
        let stranger = try used.scenario.given.signIn(subject("facebook", "bob"))
        #expect(
            try used.scenario.when(EndUnlinkPlan(of: used.identity, .kept(stranger)))
                == refused(.providerNotLinked))
        #expect(try used.when(used.due, after: 90_000).map(\.name) == [.providerUnlinked])
    }

    @Test func `the sessions that the identity opened end, and no others`() throws {
        var story = try Story()
        let thief = try story.scenario.given.signIn(subject("google", "ada"))
        try story.planned()
        _ = try story.when(story.due, after: 90_000)
        let sessions = story.scenario.given.state.ledger.sessions
        #expect(sessions[thief.session]?.endedPosition != nil)
        #expect(sessions[story.holder.session]?.endedPosition == nil)
    }

    @Test func `the last way to sign in is neither planned to be unlinked nor unlinked`() throws {
        var story = try Story()
        try story.planned()
        // The other one is the last that stays.
        #expect(
            try story.scenario.when(story.change(.plan, try story.apple))
                == refused(.onlyProvider))
        let unlink = UnlinkProvider(
            caller: story.holder, provider: provider("apple"), identity: nil, idempotency: nil)
        // The account is signed in to with Google, so its holder unlinks Apple.
        #expect(try story.scenario.when(unlink).result == .success(.unlinked([provider("google")])))
        #expect(try story.when(story.due, after: 90_000) == [story.stopped(.onlyProvider)])
        #expect(story.unlinkDue == nil)
        #expect(try story.when(story.due, after: 90_001).isEmpty)
        let again = try story.when(story.change(.plan), after: 90_002)
        #expect(again.isEmpty)
    }

    @Test func `a way that the rules have lost does not count`() throws {
        var story = try Story()
        try story.planned()
        story.scenario.given.policy.providers[provider("apple")] = nil
        #expect(try story.when(story.due, after: 90_000) == [story.stopped(.onlyProvider)])
    }

    @Test func `a way that the factor may not follow does not count`() throws {
        var story = try Story()
        story.scenario.given.policy.providers[provider("apple")] = ProviderPin(
            type: .phone, issuers: [])
        try story.planned()
        _ = try story.scenario.given.execute(
            .enrolFactor(EnrolFactor(.phone, by: story.holder, &story.generator))
        ).get()
        #expect(try story.when(story.due, after: 90_000) == [story.stopped(.onlyProvider)])
        #expect(
            try story.scenario.when(story.change(.plan)) == refused(.onlyProvider))
    }

    @Test func `a disabled account loses no identity, and the day starts again`() throws {
        var story = try Story()
        func access(_ change: ChangeAccess.Change) -> ChangeAccess {
            ChangeAccess(
                change, of: story.account, actor: .system, reason: "attack", caseReference: "6")
        }
        try story.planned()
        _ = try story.scenario.when(access(.disable)).result.get()
        #expect(try story.when(story.due, after: 90_000).isEmpty)
        #expect(
            try story.when(access(.enable), after: 90_001) == [
                .accountEnabled(AccountEnabled(account: story.account)), story.stopped(.support),
            ])
        #expect(try story.when(story.due, after: 90_002).isEmpty)
    }

    @Test func `an unlink by the holder ends the plan, also for a link that is made again`() throws
    {
        var story = try Story()
        try story.planned()
        _ = try story.scenario.given.unlink(story.holder, "google").get()
        #expect(story.unlinkDue == nil)
        #expect(try story.scenario.when(story.change(.stop)) == refused(.providerNotLinked))
        try story.link("google", "ada", story.generator.id())
        #expect(story.unlinkDue == nil)
        #expect(try story.when(story.due, after: 90_000).isEmpty)
    }

    @Test func `a merge keeps the plans of the survivor and ends those of moved identities`() throws
    {
        var story = try Story()
        try story.planned()
        let due = story.unlinkDue
        let bob = try story.scenario.given.signIn(subject("facebook", "bob"))
        func merge(_ survivor: AccountID, _ absorbed: AccountID) throws -> EventID {
            let asked = MergeAccounts.Authority.support(
                .system,
                MergeAccounts.Case(
                    survivor: survivor, absorbed: absorbed, reason: "r", reference: "c"))
            let preview = MergeAccounts.Preview(
                authority: asked, keepsAbsorbed: [], digest: sha256)
            let planned = try story.scenario.when(preview).result.get()
            guard case .mergePlanned(_, let digest) = planned else {
                throw ModelLedger.Unexpected(result: .success(planned))
            }
            let merged = try story.scenario.when(
                MergeAccounts(
                    authority: asked, keepsAbsorbed: [], agreed: digest, digest: sha256)
            ).result.get()
            guard case .merged(_, let event?) = merged else {
                throw ModelLedger.Unexpected(result: .success(merged))
            }
            return event
        }
        func undo(_ merge: EventID, _ survivor: AccountID, _ absorbed: AccountID) throws {
            _ = try story.scenario.when(
                UnmergeAccounts(
                    merge: merge, survivor: survivor, absorbed: absorbed, actor: .system,
                    reason: "r", caseReference: "c", isPreview: false)
            ).result.get()
        }
        let first = try merge(story.account, bob.account)
        #expect(story.unlinkDue == due)
        try undo(first, story.account, bob.account)
        #expect(story.unlinkDue == due)

        let second = try merge(bob.account, story.account)
        #expect(story.unlinkDue == nil)
        #expect(
            try story.scenario.when(story.change(.plan))
                == refused(.accountMerged(into: bob.account)))
        // A plan of the survivor ends when the identity goes back.
        let other = PlanUnlink(
            .plan, of: story.identity, of: bob.account, actor: .system, reason: "r",
            caseReference: "c")
        _ = try story.scenario.when(other).result.get()
        #expect(story.unlinkDue != nil)
        try undo(second, bob.account, story.account)
        #expect(story.unlinkDue == nil)
    }

    @Test func `an erased account has no plan`() throws {
        var story = try Story()
        try story.planned()
        _ = try story.scenario.when(
            EraseAccount(account: story.account, basis: .operator, actor: .system)
        ).result.get()
        #expect(story.unlinkDue == nil)
        #expect(try story.when(story.due, after: 90_000).isEmpty)
        #expect(try story.scenario.when(story.change(.plan)) == refused(.accountErased))
        #expect(try story.scenario.when(story.keep) == refused(.sessionEnded))
    }

    @Test func `no unlink is planned of what the account does not have`() throws {
        var story = try Story()
        let bob = try story.scenario.given.signIn(subject("facebook", "bob"))
        for (identity, account, refusal) in [
            (IdentityID(bits: 1), story.account, Refusal.providerNotLinked),
            (story.identity, bob.account, .providerNotLinked),
            (story.identity, AccountID(bits: 1), .unknownAccount),
        ] {
            for change in [PlanUnlink.Change.plan, .stop, .preview] {
                let request = PlanUnlink(change, of: identity, of: account, actor: .system)
                #expect(try story.scenario.when(request) == refused(refusal))
            }
        }
    }

    @Test func `every fold has the same plans`() throws {
        var story = try Story()
        var compact = CompactState(tenant: .default)
        var replayed = ReplayedAccount(story.account, in: .default)
        func fold() throws {
            for recording in story.scenario.given.log[Int(compact.nextPosition.value)...] {
                let (recorded, leaf) = (recording.recorded, leafHash(recording.entry))
                try compact.apply(recorded, leaf: leaf)
                if recorded.accounts.contains(where: { $0.id == story.account }) {
                    try replayed.apply(recorded, leaf: leaf)
                }
            }
            #expect(replayed.unlinkDues[story.identity] == story.unlinkDue)
            compact.eachIdentity { _, identity in
                #expect(story.scenario.given.state.ledger.identities[identity.id] == identity)
            }
        }
        try story.planned()
        #expect(story.unlinkDue != nil)
        try fold()
        _ = try story.scenario.when(story.keep).result.get()
        try fold()
        try story.planned()
        _ = try story.when(story.due, after: 90_000)
        #expect(replayed.links.count == 2)
        try fold()
        #expect(replayed.links.count == 1)
    }

    @Test func `the log has no unlink by support that was not planned or not due`() throws {
        var story = try Story()
        func expectFault(_ event: Event, at time: Timestamp? = nil) throws {
            var ledger = story.scenario.given.state.ledger
            let known = try #require(ledger.accounts[story.account])
            let recorded = RecordedEvent(
                tenant: .default, position: ledger.nextPosition, id: EventID(bits: 1),
                recordedAt: time ?? ledger.lastRecordedAt, actor: .system,
                command: CommandID(bits: 2), request: nil,
                accounts: [
                    AccountReference(
                        id: story.account, previous: known.lastLeaf, sequence: known.nextSequence)
                ], disclosureDigests: [], event: event)
            #expect(throws: FoldFault.self, "\(event)") { try ledger.apply(recorded, leaf: .zero) }
        }
        func planned(
            due: Timestamp, _ identity: IdentityID, at name: String = "google"
        ) -> Event {
            .providerUnlinkPlanned(
                ProviderUnlinkPlanned(
                    account: story.account, due: due, identity: identity,
                    provider: provider(name)))
        }
        let unlinked = Event.providerUnlinked(
            ProviderUnlinked(
                account: story.account, identity: story.identity, provider: provider("google"),
                cause: .support))
        try expectFault(unlinked)
        try expectFault(story.stopped(.support))
        try expectFault(planned(due: Self.now.adding(seconds: -5), story.identity))
        let later = Self.now.adding(seconds: 90_000)
        try expectFault(planned(due: later, IdentityID(bits: 1)))
        try expectFault(planned(due: later, story.identity, at: "apple"))
        try story.planned()
        try expectFault(planned(due: later, story.identity))
        try expectFault(unlinked)
        let disable = ChangeAccess(
            .disable, of: story.account, actor: .system, reason: "r", caseReference: "c")
        _ = try story.scenario.when(disable).result.get()
        try expectFault(unlinked, at: later)
    }
}
