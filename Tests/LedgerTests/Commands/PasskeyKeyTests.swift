import LedgerTestSupport
import Testing

@testable import Ledger

/// A key is a passkey identity of an account or its second factor, not both; and rules keep the domains of factors.
struct PasskeyKeyTests {
    private static let passkey = provider("passkey")

    /// An account with Apple and an authenticator app.
    private struct Story {
        var scenario = Scenario {
            $0.providers[PasskeyKeyTests.passkey] = ProviderPin(
                type: .passkey, issuers: ["example.com"])
        }
        var generator = SeededGenerator(seed: 5)
        var caller: Caller

        init() throws {
            caller = try scenario.given.signIn(subject("apple", "ada"))
            let app = EnrolFactor(by: caller, &generator)
            _ = try scenario.when(app).result.get()
            caller = Caller(account: caller.account, session: app.newSession)
        }

        mutating func enrol(_ key: String) throws -> Scenario.Effects {
            try scenario.when(
                EnrolFactor(
                    .passkey, by: caller,
                    passkey: (subject: subject("passkey", key), domain: "example.com"),
                    &generator))
        }

        mutating func link(_ key: String) throws -> Scenario.Effects {
            let proof = registration(of: key, &generator)
            return try scenario.when(
                LinkProvider(
                    caller: caller,
                    credential: Credential(
                        provider: proof.subject.provider, digest: digest(generator.bytes(32)),
                        check: .success(proof)),
                    idempotency: nil, newIdentity: generator.id()))
        }
    }

    @Test func `a second factor is linked as no passkey`() throws {
        var story = try Story()
        _ = try story.enrol("key").result.get()
        #expect(try story.link("key") == refused(.invalidProviderToken))
        _ = try story.link("other").result.get()
    }

    @Test func `a linked passkey is enrolled as no second factor`() throws {
        var story = try Story()
        _ = try story.link("key").result.get()
        #expect(try story.enrol("key") == refused(.invalidCode))
        _ = try story.enrol("other").result.get()
    }

    @Test func `a key that is one no longer becomes the other`() throws {
        var story = try Story()
        let enrolled = try story.enrol("key")
        guard case .secondFactorEnrolled(let fact) = enrolled.events.first else {
            Issue.record("\(enrolled)")
            return
        }
        _ = try story.scenario.when(
            RemoveFactor(fact.factor, by: .accountHolder(story.caller))
        ).result.get()
        _ = try story.link("key").result.get()
        _ = try story.scenario.given.unlink(story.caller, "passkey").get()
        _ = try story.enrol("key").result.get()
    }

    @Test func `rules that lose the domain of a second factor need a confirmation`() throws {
        var story = try Story()
        _ = try story.scenario.when(SequencerFixture.opening(of: .default).intent)
        let policy = story.scenario.given.policy
        _ = try story.scenario.when(.setRules(SetRules(policy, condition: .noneRecorded)))
        var fewer = policy
        fewer.providers[Self.passkey] = nil
        let removal = Command.Intent.setRules(SetRules(fewer, condition: .withoutLockOuts))
        var moved = fewer
        moved.providers[provider("keys")] = ProviderPin(type: .passkey, issuers: ["example.com"])
        _ = try story.enrol("key").result.get()
        #expect(try story.scenario.when(removal) == refused(.accountsLockedOut([Self.passkey])))
        // The domain stays with a provider of another name.
        _ = try story.scenario.when(.setRules(SetRules(moved, condition: .withoutLockOuts)))
            .result.get()
        #expect(
            try story.scenario.when(removal) == refused(.accountsLockedOut([provider("keys")])))
        _ = try story.scenario.when(.setRules(SetRules(fewer, condition: .acceptsLockOuts)))
            .result.get()
    }
}
