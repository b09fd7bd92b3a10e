import Ledger
import LedgerTestSupport
import Testing

/// A phone number that another person may have by now is no way to sign in that an account is left with.
@Suite struct UnusedWayTests {
    private static let phone = RandomCommands.phone
    private static let google = provider("google")
    private static let number = "+4915123456789"
    private static let other = "+4915123456780"

    /// A ledger whose rules let a number be unused for 180 days.
    private struct Story {
        var claims = ClaimStory()

        init() {
            claims.scenario.given.policy.providers[UnusedWayTests.phone] = ProviderPin(
                type: .phone, issuers: [])
        }

        mutating func advance(days: Int64) {
            claims.scenario.given.advanceClock(bySeconds: days * 86_400)
        }

        mutating func code(_ number: String = UnusedWayTests.number) -> Proof {
            numberProof(number, new: claims.generator.id())
        }

        mutating func signIn(_ number: String = UnusedWayTests.number) throws -> Caller {
            try claims.caller(claims.signIn(code(number)))
        }

        mutating func signIn(_ name: String, at provider: String) throws -> Caller {
            try claims.scenario.given.signIn(subject(provider, name))
        }

        mutating func link(_ caller: Caller, _ proof: Proof) throws {
            _ = try claims.link(caller, proof).result.get()
        }

        /// Opens an account with Google and the number.
        mutating func withGoogle() throws -> Caller {
            let caller = try signIn("ada", at: "google")
            try link(caller, code())
            return caller
        }

        mutating func unlink(
            _ caller: Caller, _ provider: ProviderName = UnusedWayTests.google
        ) throws -> Result<Reply, Refusal> {
            try claims.scenario.when(
                UnlinkProvider(
                    caller: caller, provider: provider, identity: nil, idempotency: nil)
            ).result
        }

        /// The identity of Google at an account.
        func google(_ caller: Caller) throws -> IdentityID {
            let links = try claims.account(caller).links
            return try #require(links.first { $0.provider == UnusedWayTests.google }).identity
        }
    }

    @Test func `an account with an unused number keeps its other way`() throws {
        var used = Story()
        _ = try used.withGoogle()
        used.advance(days: 179)
        let recent = try used.signIn("ada", at: "google")
        #expect(try used.unlink(recent) == .success(.unlinked([Self.phone])))

        var story = Story()
        _ = try story.withGoogle()
        story.advance(days: 181)
        let ada = try story.signIn("ada", at: "google")
        #expect(try story.unlink(ada) == .failure(.onlyProvider))
        try story.link(ada, story.code())
        #expect(try story.unlink(ada) == .success(.unlinked([Self.phone])))
        #expect(try story.signIn().account == ada.account)
    }

    @Test func `with the rule off an unused number is a way`() throws {
        var story = Story()
        story.claims.scenario.given.policy.phoneUnusedDays = 0
        _ = try story.withGoogle()
        story.advance(days: 10_000)
        let ada = try story.signIn("ada", at: "google")
        #expect(try story.unlink(ada) == .success(.unlinked([Self.phone])))
    }

    @Test func `an account that has lost its number keeps its other way`() throws {
        var story = Story()
        story.claims.scenario.given.policy.sessionIdleSeconds = 400 * 86_400
        story.claims.scenario.given.policy.sessionLifetimeSeconds = 400 * 86_400
        let former = try story.signIn()
        story.advance(days: 181)
        #expect(try story.signIn().account != former.account)
        try story.link(former, proof(subject("google", "ada")))
        #expect(try story.unlink(former) == .failure(.onlyProvider))
        story.claims.scenario.given.policy.phoneUnusedDays = 0
        #expect(try story.unlink(former) == .failure(.onlyProvider))
    }

    @Test func `a second factor is asked for with an unused number, so that it is a way`() throws {
        var story = Story()
        let ada = try story.withGoogle()
        let enrolment = EnrolFactor(by: ada, &story.claims.generator)
        _ = try story.claims.scenario.when(enrolment).result.get()
        story.advance(days: 181)
        let second = SignIn(
            proof(subject("google", "ada")), of: ada.account, factor: enrolment.factor.id,
            counter: 42, &story.claims.generator)
        let caller = try story.claims.caller(story.claims.scenario.when(second))
        #expect(try story.unlink(caller) == .success(.unlinked([Self.phone])))
    }

    private func plan(_ identity: IdentityID, of caller: Caller) -> PlanUnlink {
        PlanUnlink(
            .plan, of: identity, of: caller.account, actor: .system, reason: "not theirs",
            caseReference: "case 1")
    }

    @Test func `support leaves an account an unused number, so that a stranger can be unlinked`()
        throws
    {
        var story = Story()
        let ada = try story.withGoogle()
        let google = try story.google(ada)
        story.advance(days: 181)
        _ = try story.claims.scenario.when(plan(google, of: ada)).result.get()
        story.advance(days: 2)
        let due = EndUnlinkPlan(of: google, .due(ada.account))
        let ended = try story.claims.scenario.when(due)
        #expect(ended.result == .success(.unlinkPlanEnded(.unlinked)))
    }

    @Test func `support leaves no account a lost number alone`() throws {
        var story = Story()
        story.claims.scenario.given.policy.sessionIdleSeconds = 400 * 86_400
        story.claims.scenario.given.policy.sessionLifetimeSeconds = 400 * 86_400
        let former = try story.signIn()
        story.advance(days: 181)
        _ = try story.signIn()
        try story.link(former, proof(subject("google", "ada")))
        let google = try story.google(former)
        #expect(try story.claims.scenario.when(plan(google, of: former)) == refused(.onlyProvider))
    }

    @Test func `a merge leaves more than a lost number`() throws {
        var story = Story()
        let former = try story.signIn()
        story.advance(days: 181)
        _ = try story.signIn()
        let present = try story.signIn(Self.other)
        func preview(keeping kept: Set<ProviderName>) -> MergeAccounts.Preview {
            MergeAccounts.Preview(
                authority: .support(
                    .system,
                    MergeAccounts.Case(
                        survivor: former.account, absorbed: present.account, reason: "one",
                        reference: "1")),
                keepsAbsorbed: kept, digest: sha256)
        }
        #expect(try story.claims.scenario.when(preview(keeping: [])) == refused(.onlyProvider))
        _ = try story.claims.scenario.when(preview(keeping: [Self.phone])).result.get()
    }

    @Test func `an undone merge may give back an unused number`() throws {
        var story = Story()
        let bob = try story.signIn("bob", at: "apple")
        let ada = try story.signIn()
        let merge = try story.claims.merge(bob, ada)
        let undo = UnmergeAccounts.Preview(
            merge: merge, survivor: bob.account, absorbed: ada.account, actor: .system)
        story.advance(days: 181)
        _ = try story.claims.scenario.when(undo).result.get()
    }

    @Test func `the link of a number that a merge left behind proves it`() throws {
        var story = Story()
        let ada = try story.signIn()
        let bob = try story.signIn("bob", at: "apple")
        try story.link(bob, story.code(Self.other))
        _ = try story.claims.merge(bob, ada)
        story.advance(days: 179)
        let back = try story.signIn("bob", at: "apple")
        #expect(try story.unlink(back, Self.phone) == .success(.unlinked([provider("apple")])))
        let linked = try story.claims.link(back, story.code())
        #expect(linked.events.map(\.name) == [.providerLinked])
        story.advance(days: 2)
        #expect(try story.signIn().account == bob.account)
        story.advance(days: 181)
        #expect(try story.claims.signIn(story.code()) == refused(.addressUnused))
    }
}
