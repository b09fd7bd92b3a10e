import Ledger
import LedgerTestSupport
import Testing

struct LinkTests {
    private static let google = provider("google")
    private static let newIdentity = IdentityID(bits: 7)

    private func link(
        _ caller: Caller, _ check: Result<Proof, Credential.Flaw>, token: UInt8 = 1
    ) -> LinkProvider {
        LinkProvider(
            caller: caller,
            credential: Credential(
                provider: Self.google, digest: digest(Array(repeating: token, count: 32)),
                check: check),
            idempotency: nil, newIdentity: Self.newIdentity)
    }

    private func conflict(
        _ caller: Caller, _ reason: ConflictRejected.Reason, holder: AccountID? = nil,
        identity: IdentityID?
    ) -> Scenario.Effects {
        refused(
            .providerConflict(reason),
            .conflictRejected(
                ConflictRejected(
                    account: caller.account, holder: holder, identity: identity,
                    provider: Self.google, reason: reason)))
    }

    @Test func `a proved subject is linked to the caller's account`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        let proof = proof(
            subject("google", "ada"), email: Email("a@example.org", isVerified: true))
        #expect(
            try scenario.when(link(ada, .success(proof)))
                == then(
                    .linked([provider("apple"), Self.google]),
                    .providerLinked(
                        ProviderLinked(
                            account: ada.account, identity: Self.newIdentity,
                            provider: Self.google, cause: .link))))
        let disclosed = try #require(scenario.given.log.last).disclosures
        #expect(disclosed.count == 3)
    }

    @Test func `a credential that proves nothing is refused, an invalid one with an event`() throws
    {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        let rejected = LinkRejected(
            account: ada.account, provider: Self.google, reason: .invalidIDToken)
        #expect(
            try scenario.when(link(ada, .failure(.invalid)))
                == refused(.invalidProviderToken, .linkRejected(rejected)))
        #expect(
            try scenario.when(link(ada, .failure(.unavailable))) == refused(.providerUnavailable))
        #expect(
            try scenario.when(link(ada, .failure(.unsupported))) == refused(.unsupportedProvider))
        let unknown = Caller(account: ada.account, session: SessionID(bits: 1))
        #expect(try scenario.when(link(unknown, .failure(.invalid))) == refused(.sessionEnded))
    }

    @Test func `an identity that is taken, or a second one of the provider, is a conflict`() throws
    {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada"))
        let bob = try scenario.given.signIn(subject("google", "bob"))
        let held = try #require(scenario.given.identities(of: bob, "google").first)
        #expect(
            try scenario.when(link(ada, .success(proof(subject("google", "bob")))))
                == conflict(ada, .heldByOther, holder: bob.account, identity: held))
        #expect(
            try scenario.when(link(bob, .success(proof(subject("google", "bob")))))
                == conflict(bob, .alreadyYours, identity: held))
        #expect(
            try scenario.when(link(bob, .success(proof(subject("google", "second"))), token: 2))
                == conflict(bob, .providerTaken, identity: nil))
    }
}
