import Ledger
import LedgerTestSupport
import Testing

/// Erasures that need two administrators, decided by the pure model.
struct ErasureRequestTests {
    private static let sam = Actor.principal(Principal(staff: StaffID(bits: 1), role: .admin))
    private static let kim = Actor.principal(Principal(staff: StaffID(bits: 2), role: .admin))
    /// An API key with the id of a person.
    private static let key = Actor.principal(Principal(key: APIKeyID(bits: 1), role: .admin))
    private static let first = ErasureRequestID(bits: 11)
    private static let second = ErasureRequestID(bits: 12)

    /// A ledger in which an erasure needs two, with the account of Ada.
    private struct Story {
        var scenario = Scenario { $0.eraseNeedsTwo = true }
        let ada: AccountID

        init() throws {
            ada = try scenario.given.signIn(subject("apple", "ada")).account
        }

        /// The agreement to the account's present plan.
        mutating func agreed() throws -> EraseAccount.Agreement {
            let reply = try scenario.when(
                EraseAccount.Preview(account: ada, actor: ErasureRequestTests.sam)
            ).result.get()
            let plan = try #require(EraseAccount.Preview.success(in: reply)).plan
            return .plan(sha256(plan.bytes), sha256)
        }

        mutating func ask(
            _ id: ErasureRequestID, by actor: Actor, basis: AccountErased.Basis = .retention,
            _ agreement: EraseAccount.Agreement = .named
        ) throws -> Scenario.Effects {
            try scenario.when(
                EraseAccount(
                    account: ada, basis: basis, agreement: agreement,
                    step: .ask(id, reason: "case 1", sha256), actor: actor))
        }

        mutating func confirm(
            _ id: ErasureRequestID, by actor: Actor, _ agreement: EraseAccount.Agreement
        ) throws -> Scenario.Effects {
            try scenario.when(
                EraseAccount(
                    account: ada, basis: .dataSubjectRequest, agreement: agreement,
                    step: .confirm(id), actor: actor))
        }

        mutating func withdraw(
            _ id: ErasureRequestID, by actor: Actor
        ) throws -> Scenario.Effects {
            try scenario.when(EraseAccount.Withdrawal(id, of: ada, actor: actor))
        }

        var request: ErasureRequest? { scenario.given.state.erasureRequests[ada] }

        func isErased() -> Bool { scenario.given.account(ada)?.erasedPosition != nil }
    }

    @Test func `one administrator only asks, and another one erases`() throws {
        var story = try Story()
        let asked = try story.ask(Self.first, by: Self.sam)
        let request = try #require(story.request)
        #expect(asked == then(.erasureAsked(request)))
        #expect(request.asker == Principal(staff: StaffID(bits: 1), role: .admin))
        #expect(request.reason == "case 1" && request.basis == .retention)
        #expect(request.expiresAt == request.askedAt.adding(seconds: 86_400))
        let agreed = try story.agreed()
        #expect(
            try story.confirm(Self.first, by: Self.sam, agreed)
                == refused(.secondAdministratorRequired))
        #expect(!story.isErased())
        let position = LogPosition(Int64(story.scenario.given.events.count))
        #expect(
            try story.confirm(Self.first, by: Self.kim, agreed)
                == then(
                    .erased(at: position, isNew: true, covering: [story.ada]),
                    .accountErased(
                        AccountErased(
                            account: story.ada, basis: .retention, survivor: story.ada,
                            asker: request.asker))))
        #expect(story.scenario.given.log.last?.recorded.actor == Self.kim)
        #expect(story.request == nil)
        for actor in [Self.sam, Self.kim] {
            #expect(
                try story.confirm(Self.first, by: actor, agreed)
                    == then(.erased(at: position, isNew: false, covering: [story.ada])))
        }
        #expect(try story.withdraw(Self.first, by: Self.kim) == refused(.accountErased))
    }

    @Test func `an API key is another administrator than a person, and the same key is not`() throws
    {
        var story = try Story()
        _ = try story.ask(Self.first, by: Self.key)
        let agreed = try story.agreed()
        let demoted = Actor.principal(Principal(key: APIKeyID(bits: 1), role: .support))
        for same in [Self.key, demoted] {
            #expect(
                try story.confirm(Self.first, by: same, agreed)
                    == refused(.secondAdministratorRequired))
        }
        #expect(try story.confirm(Self.first, by: Self.sam, agreed).events.count == 1)
    }

    @Test func `the same request of the same administrator is one, and another's is refused`()
        throws
    {
        var story = try Story()
        _ = try story.ask(Self.first, by: Self.sam)
        let request = try #require(story.request)
        #expect(try story.ask(Self.second, by: Self.sam) == then(.erasureAsked(request)))
        #expect(try story.ask(Self.second, by: Self.kim) == refused(.erasureRequested))
        #expect(story.request == request)
        // Another basis is another request.
        _ = try story.ask(Self.second, by: Self.sam, basis: .operator)
        #expect(story.request?.id == Self.second)
        #expect(
            try story.confirm(Self.first, by: Self.kim, story.agreed())
                == refused(.unknownErasureRequest))
    }

    @Test func `a request that is withdrawn or expired cannot be confirmed`() throws {
        var story = try Story()
        let agreed = try story.agreed()
        _ = try story.ask(Self.first, by: Self.sam)
        #expect(try story.withdraw(Self.second, by: Self.sam) == refused(.unknownErasureRequest))
        #expect(try story.withdraw(Self.first, by: Self.kim) == then(.erasureWithdrawn))
        #expect(try story.withdraw(Self.first, by: Self.kim) == refused(.unknownErasureRequest))
        #expect(
            try story.confirm(Self.first, by: Self.kim, agreed)
                == refused(.unknownErasureRequest))
        _ = try story.ask(Self.second, by: Self.sam)
        story.scenario.given.advanceClock(bySeconds: ErasureRequest.lifetimeSeconds)
        #expect(
            try story.confirm(Self.second, by: Self.kim, agreed)
                == refused(.unknownErasureRequest))
        #expect(try story.withdraw(Self.second, by: Self.kim) == refused(.unknownErasureRequest))
        _ = try story.ask(Self.first, by: Self.kim)
        #expect(story.request?.id == Self.first)
        #expect(!story.isErased())
    }

    @Test func `a request whose accounts have changed is void`() throws {
        var story = try Story()
        let agreed = try story.agreed()
        _ = try story.ask(Self.first, by: Self.sam)
        let hold = HoldID(bits: 5)
        _ = try story.scenario.when(
            SetLegalHold(account: story.ada, newHold: hold, actor: Self.sam))
        #expect(
            try story.confirm(Self.first, by: Self.kim, agreed) == refused(.erasurePlanChanged))
        #expect(
            try story.confirm(Self.first, by: Self.kim, story.agreed()) == refused(.legalHold))
        #expect(try story.ask(Self.second, by: Self.sam) == refused(.legalHold))
        _ = try story.scenario.when(
            LiftLegalHold(account: story.ada, hold: hold, actor: Self.sam))
        // A merge changes what both have agreed to.
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        let absorb = MergeAccounts.Authority.support(
            Self.sam,
            MergeAccounts.Case(
                survivor: story.ada, absorbed: bob.account, reason: "r", reference: "c"))
        let planned = try story.scenario.when(
            MergeAccounts.Preview(authority: absorb, keepsAbsorbed: [], digest: sha256)
        ).result.get()
        let shown = try #require(MergeAccounts.Preview.success(in: planned))
        _ = try story.scenario.when(
            MergeAccounts(
                authority: absorb, keepsAbsorbed: [], agreed: shown.digest, digest: sha256)
        ).result.get()
        let fresh = try story.agreed()
        #expect(
            try story.confirm(Self.first, by: Self.kim, fresh) == refused(.erasurePlanChanged))
        #expect(story.request == nil, "the refusal ends it")
        #expect(
            try story.confirm(Self.first, by: Self.kim, fresh)
                == refused(.unknownErasureRequest))
        // Another one may be asked for by any administrator.
        _ = try story.ask(Self.second, by: Self.kim, fresh)
        #expect(try story.confirm(Self.second, by: Self.sam, fresh).events.count == 2)
    }

    @Test func `a request that became void makes place`() throws {
        var story = try Story()
        _ = try story.ask(Self.first, by: Self.sam)
        let hold = HoldID(bits: 5)
        _ = try story.scenario.when(
            SetLegalHold(account: story.ada, newHold: hold, actor: Self.sam))
        _ = try story.scenario.when(
            LiftLegalHold(account: story.ada, hold: hold, actor: Self.sam))
        // The plan is the former one again.
        #expect(try story.ask(Self.second, by: Self.kim) == refused(.erasureRequested))
        #expect(
            try story.confirm(Self.first, by: Self.kim, story.agreed()).events.count == 1)
    }

    @Test func `operators and retention erase alone, and no administrator does`() throws {
        var story = try Story()
        let alone = EraseAccount(
            account: story.ada, basis: .operator, agreement: .named, actor: Self.sam)
        #expect(try story.scenario.when(alone) == refused(.secondAdministratorRequired))
        let byOperator = EraseAccount(
            account: story.ada, basis: .operator, agreement: .named, actor: .system)
        #expect(try story.scenario.when(byOperator).events.count == 1)
    }

    @Test func `without the rule, a request erases at once`() throws {
        var story = try Story()
        story.scenario.given.policy.eraseNeedsTwo = false
        #expect(try story.ask(Self.first, by: Self.sam).events.count == 1)
    }

    @Test func `stored askers are read back, and nothing else`() {
        for actor in [
            Principal(staff: StaffID(bits: 1), role: .admin),
            .init(key: APIKeyID(bits: 2), role: .admin),
        ] {
            #expect(Principal.named(actor.description, role: .admin) == actor)
        }
        for text in ["", "operator", "staff:", "staff:x", "key:\(StaffID(bits: 1))"] {
            #expect(Principal.named(text, role: .admin) == nil)
        }
    }
}
