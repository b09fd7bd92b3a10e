import LedgerTestSupport
import Testing

@testable import Ledger

/// An account with a second factor keeps a way to sign in that the factor may follow.
struct UsableWayTests {
    private static let phone = provider("phone")

    /// An account with Apple, a phone and, as second factors, an authenticator app and another phone.
    private struct Story {
        var scenario = Scenario {
            $0.providers[UsableWayTests.phone] = ProviderPin(type: .phone, issuers: [])
        }
        var generator = SeededGenerator(seed: 5)
        var caller: Caller
        let app: FactorID
        let number: FactorID

        init() throws {
            let signIn = SignIn(
                proof(subject("apple", "ada"), authenticatedAt: Timestamp(seconds: 4_000_000_000)),
                createAccount: true, refreshToken: .zero, newAccount: generator.id(),
                newIdentity: generator.id(), newSession: generator.id())
            let grant = try #require(
                SignIn.success(in: try scenario.when(signIn).result.get())
            ).grant
            caller = Caller(account: grant.account, session: grant.session)
            let link = LinkProvider(
                caller: caller,
                credential: Credential(subject("phone", "ada"), digest: .zero), idempotency: nil,
                newIdentity: generator.id())
            _ = try scenario.when(link).result.get()
            let first = EnrolFactor(by: caller, &generator)
            _ = try scenario.when(first).result.get()
            caller = Caller(account: grant.account, session: first.newSession)
            let second = EnrolFactor(.phone, by: caller, &generator)
            _ = try scenario.when(second).result.get()
            (app, number) = (first.factor.id, second.factor.id)
        }

        mutating func unlink(_ name: String) throws -> Scenario.Effects {
            try scenario.when(
                UnlinkProvider(
                    caller: caller, provider: provider(name), identity: nil, idempotency: nil))
        }

        /// Signs in with the linked phone and the authenticator app.
        mutating func signInByPhone() throws {
            let signIn = SignIn(
                proof(subject("phone", "ada")), of: caller.account, factor: app, counter: 42,
                &generator)
            let grant = try #require(
                SignIn.success(in: try scenario.when(signIn).result.get())
            ).grant
            caller = Caller(account: grant.account, session: grant.session)
        }

        /// Plans the removal of a factor by support, or previews it.
        mutating func plan(
            _ change: PlanFactorRemoval.Change, _ factor: FactorID
        ) throws -> Scenario.Effects {
            try scenario.when(
                PlanFactorRemoval(
                    change, of: factor, of: caller.account, actor: .system, reason: "lost",
                    caseReference: "5"))
        }

        mutating func remove(_ factor: FactorID) throws -> Scenario.Effects {
            try scenario.when(RemoveFactor(factor, by: .accountHolder(caller)))
        }
    }

    @Test func `a phone is not left to follow phones alone`() throws {
        var unlinking = try Story()
        _ = try unlinking.remove(unlinking.app).result.get()
        #expect(try unlinking.unlink("apple").result == .failure(.onlyProvider))
        #expect(try unlinking.unlink("phone").result == .success(.unlinked([provider("apple")])))

        var removing = try Story()
        _ = try removing.unlink("apple").result.get()
        try removing.signInByPhone()
        #expect(try removing.remove(removing.app) == refused(.factorRefused(.sameKind)))
        _ = try removing.remove(removing.number).result.get()
        _ = try removing.remove(removing.app).result.get()
    }

    @Test func `support plans no removal that leaves a phone to follow phones`() throws {
        var story = try Story()
        _ = try story.unlink("apple").result.get()
        try story.signInByPhone()
        for change in [PlanFactorRemoval.Change.plan, .preview] {
            #expect(try story.plan(change, story.app) == refused(.factorRefused(.sameKind)))
        }
        _ = try story.plan(.plan, story.number).result.get()
        // The other one is planned to go, so none would be left.
        _ = try story.plan(.plan, story.app).result.get()
    }

    @Test func `a removal that would do so when it is due is stopped`() throws {
        var story = try Story()
        _ = try story.plan(.plan, story.app).result.get()
        _ = try story.unlink("apple").result.get()
        story.scenario.given.advanceClock(bySeconds: 90_000)
        let due = RemoveFactor(story.app, by: .planned(story.caller.account))
        #expect(
            try story.scenario.when(due)
                == then(
                    .factorKept,
                    .secondFactorRemovalStopped(
                        SecondFactorRemovalStopped(
                            account: story.caller.account, cause: .sameKind, factor: story.app))))
        #expect(try story.scenario.when(due) == refused(.unknownFactor))
    }
}
