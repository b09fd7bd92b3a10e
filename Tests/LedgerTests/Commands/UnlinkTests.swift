import Ledger
import LedgerTestSupport
import Testing

struct UnlinkTests {
    private static let google = provider("google")

    private struct Story {
        var scenario: Scenario
        let ada: Caller
        let identity: IdentityID

        /// Signs in with Apple and links Google.
        init(_ change: (inout TenantPolicy) -> Void = { _ in }) throws {
            scenario = Scenario(change)
            ada = try scenario.given.signIn(subject("apple", "ada"))
            _ = try scenario.given.link(ada, .success(proof(subject("google", "ada"))), token: 1)
                .get()
            identity = try #require(scenario.given.identities(of: ada, "google").first)
        }

        mutating func unlink(
            _ provider: ProviderName = UnlinkTests.google, identity: IdentityID? = nil
        ) throws -> Scenario.Effects {
            try scenario.when(
                UnlinkProvider(
                    caller: ada, provider: provider, identity: identity, idempotency: nil))
        }

        func rejected(_ reason: UnlinkRejected.Reason) -> Event {
            .unlinkRejected(
                UnlinkRejected(
                    account: ada.account, identity: identity, provider: UnlinkTests.google,
                    reason: reason))
        }
    }

    @Test func `an unlink ends the sessions that the identity opened`() throws {
        var story = try Story()
        let other = try story.scenario.given.signIn(subject("google", "ada"))
        #expect(
            try story.unlink()
                == then(
                    .unlinked([provider("apple")]),
                    .providerUnlinked(
                        ProviderUnlinked(
                            account: story.ada.account, identity: story.identity,
                            provider: Self.google))))
        #expect(
            try story.scenario.when(SignOut(caller: other, scope: .session))
                == refused(.sessionEnded))
        #expect(try story.unlink() == refused(.providerNotLinked))
    }

    @Test func `one of several identities must be named`() throws {
        var story = try Story { $0.severalPerProvider = true }
        _ = try story.scenario.given.link(
            story.ada, .success(proof(subject("google", "second"))), token: 2
        ).get()
        let identities = story.scenario.given.identities(of: story.ada, "google")
        #expect(identities.count == 2)
        #expect(try story.unlink() == refused(.identityNotNamed(identities)))
        #expect(
            try story.unlink(identity: story.identity).result
                == .success(.unlinked([provider("apple"), Self.google])))
    }

    @Test func `the last way to sign in stays, and each refusal is appended once`() throws {
        // Apple left the configuration, so that Google alone opens the account.
        var story = try Story()
        story.scenario.given.policy.providers =
            TenantPolicy(providers: [Self.google]).providers
        #expect(try story.unlink() == refused(.onlyProvider, story.rejected(.onlyProvider)))
        #expect(try story.unlink() == refused(.onlyProvider))
    }

    @Test func `an unlink needs a recent authentication`() throws {
        var story = try Story()
        story.scenario.given.advanceClock(bySeconds: 601)
        #expect(
            try story.unlink()
                == refused(.reauthenticationRequired, story.rejected(.reauthenticationRequired)))
        #expect(try story.unlink() == refused(.reauthenticationRequired))
    }
}
