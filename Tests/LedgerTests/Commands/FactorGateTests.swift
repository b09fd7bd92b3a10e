import LedgerTestSupport
import Testing

@testable import Ledger

/// Changes by a session without the second factor, however recent.
struct FactorGateTests {
    /// An account with a password, Google and an authenticator app.
    private struct Story {
        // Time refuses nothing.
        var scenario = Scenario {
            $0 = RandomCommands.policy(hasEveryType: true)
            $0.reauthenticationSeconds = .max / 2_000_000
        }
        var generator = SeededGenerator(seed: 5)
        var caller: Caller
        let factor: FactorID

        init() throws {
            let signUp = SignIn(address: "ada@example.com", password: "hash", &generator)
            let grant = try #require(
                SignIn.success(in: try scenario.when(signUp).result.get())
            ).grant
            let enrolled = EnrolFactor(
                by: Caller(account: grant.account, session: grant.session), &generator)
            factor = enrolled.factor.id
            _ = try scenario.when(enrolled).result.get()
            caller = Caller(account: grant.account, session: enrolled.newSession)
            _ = try scenario.when(link("google")).result.get()
        }

        mutating func link(_ name: String) -> LinkProvider {
            LinkProvider(
                caller: caller, credential: Credential(subject(name, "ada"), digest: .zero),
                idempotency: nil, newIdentity: generator.id())
        }

        mutating func change(former: PasswordVersion? = nil) -> ChangePassword {
            ChangePassword(
                SessionRenewal(
                    caller: caller, password: former, refreshToken: .zero,
                    newSession: generator.id()),
                to: NewPassword(hash: "other"))
        }

        var current: PasswordVersion? {
            scenario.given.state.ledger.passwords.first.map {
                PasswordVersion(identity: $0.key, version: $0.value)
            }
        }
    }

    @Test func `a session without the factor changes nothing`() throws {
        var story = try Story()
        let change = story.change()
        _ = try story.scenario.when(change).result.get()
        story.caller = Caller(account: story.caller.account, session: change.renewal.newSession)
        let late = refused(.reauthenticationRequired)
        #expect(try story.scenario.when(story.link("apple")) == late)
        let enrolment = EnrolFactor(by: story.caller, &story.generator)
        #expect(try story.scenario.when(enrolment) == late)
        let codes = EnrolFactor(.recoveryCodes, by: story.caller, &story.generator)
        #expect(try story.scenario.when(codes) == late)
        let removal = RemoveFactor(story.factor, by: .accountHolder(story.caller))
        #expect(try story.scenario.when(removal) == late)
        let merge = MergeAccounts.Preview(
            authority: .accountHolder(
                story.caller, Credential(subject("google", "bob"), digest: .zero)),
            keepsAbsorbed: [], digest: sha256)
        #expect(try story.scenario.when(merge) == late)
        #expect(try story.scenario.when(story.change()) == late)
        let current = try #require(story.current)
        #expect(try story.scenario.when(story.change(former: current)) == late)
        let unlink = UnlinkProvider(
            caller: story.caller, provider: provider("google"), identity: nil, idempotency: nil)
        #expect(
            try story.scenario.when(unlink).result == .failure(.reauthenticationRequired))
    }
}
