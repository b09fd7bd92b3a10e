import Ledger
import LedgerTestSupport
import Testing

/// Accounts that have nothing but a claimed address, and are handed over to the person who proves it.
@Suite struct ClaimTakeOverTests {
    private static let google = provider("google")
    private static let email = RandomCommands.email

    @Test func `a code alone takes the account over that has nothing but the claim`() throws {
        var story = ClaimStory()
        let mallory = try story.opened()
        let enrolment = EnrolFactor(by: mallory, &story.generator)
        _ = try story.scenario.when(enrolment).result.get()
        let session = Caller(account: mallory.account, session: enrolment.newSession)
        let old = try story.known()
        let taken = try story.signIn(story.code())
        #expect(
            taken.events.map(\.name) == [
                .providerLinked, .addressReleased, .addressConfirmed, .providerUnlinked,
                .secondFactorRemoved, .secondFactorRemoved, .signedIn,
            ])
        let ada = try story.caller(taken)
        #expect(ada.account == mallory.account)
        #expect(!story.isLive(mallory) && !story.isLive(session) && story.isLive(ada))
        let account = try story.account(ada)
        #expect(account.linkedProviders == [Self.email] && account.secondFactors.isEmpty)
        #expect(try !story.address().isClaimed)
        #expect(story.scenario.given.state.ledger.passwords.isEmpty)
        #expect(story.scenario.given.state.ledger.factors.isEmpty)
        #expect(try story.signIn(old) == refused(.invalidPassword))
        #expect(try story.caller(story.signIn(story.code())).account == ada.account)
    }

    @Test func `a sign-up that was proved replaces the password of such an account`() throws {
        var story = ClaimStory()
        let mallory = try story.opened()
        let old = try story.known()
        let taken = try story.signIn(story.signUp())
        #expect(
            taken.events.map(\.name) == [
                .providerLinked, .addressReleased, .addressConfirmed, .passwordSet,
                .providerUnlinked, .signedIn,
            ])
        let ada = try story.caller(taken)
        #expect(ada.account == mallory.account && !story.isLive(mallory))
        #expect(try story.signIn(old) == refused(.invalidPassword))
        #expect(try story.caller(story.signIn(story.known())).account == ada.account)
    }

    @Test func `the former holder keeps no address of an account that is handed over`() throws {
        var story = ClaimStory()
        let mallory = try story.caller(story.signIn(story.code("mallory@x.test")))
        _ = try story.link(mallory, story.claim())
        try story.unlink(mallory, Self.email)
        let taken = try story.signIn(story.code())
        #expect(
            taken.events.map(\.name) == [
                .providerLinked, .addressReleased, .addressReleased, .addressConfirmed,
                .providerUnlinked, .signedIn,
            ])
        #expect(try story.caller(taken).account == mallory.account)
        #expect(try story.address().account == mallory.account)
    }

    @Test func `no undoing of an earlier merge gives a handed over account back`() throws {
        for isSignUp in [true, false] {
            var story = ClaimStory()
            let first = try story.caller(story.signIn(story.claim("mallory@x.test")))
            let second = try story.opened()
            let merge = try story.merge(first, second, keepsAbsorbed: true)
            let ada = try story.caller(story.signIn(isSignUp ? story.signUp() : story.code()))
            #expect(ada.account == first.account)
            let undone = try story.scenario.when(
                UnmergeAccounts(
                    merge: merge, survivor: first.account, absorbed: second.account,
                    actor: .system, reason: "two", caseReference: "8", isPreview: false))
            #expect(undone == refused(.mergeSuperseded(.identityChanged)))
        }
    }

    @Test
    func `the former holder's identities do not come back to an account that was handed over`()
        throws
    {
        var story = ClaimStory()
        let mallory = try story.scenario.given.signIn(subject("google", "mallory"))
        _ = try story.link(mallory, story.claim())
        let former = try #require(story.scenario.given.identities(of: mallory, "google").first)
        try story.unlink(mallory, Self.google)
        let ada = try story.caller(story.signIn(story.code()))
        #expect(ada.account == mallory.account)
        let relink = try story.scenario.given.relink(former, to: ada.account)
        #expect(relink == .failure(.relinkRefused(.handedOver)))
        #expect(
            try story.scenario.given.signIn(subject("google", "mallory")).account != ada.account)

        _ = try story.link(ada, proof(subject("google", "ada"))).result.get()
        let own = try #require(story.account(ada).links.last?.identity)
        try story.unlink(ada, Self.google)
        _ = try story.scenario.given.relink(own, to: ada.account).get()
        #expect(try story.account(ada).links.last?.identity == own)
    }

    @Test func `an account that only loses a claim keeps what it had`() throws {
        var story = ClaimStory()
        let holder = try story.scenario.given.signIn(subject("google", "bob"))
        _ = try story.link(holder, proof(subject("apple", "bob"))).result.get()
        _ = try story.link(holder, story.claim())
        let former = try #require(
            try story.account(holder).links.first { $0.provider == provider("apple") })
        try story.unlink(holder, provider("apple"))
        #expect(try story.caller(story.signIn(story.code())).account != holder.account)
        _ = try story.scenario.given.relink(former.identity, to: holder.account).get()
    }

    @Test func `an account with a passkey is not handed over, even if its factor is a key, too`()
        throws
    {
        let passkey = provider("passkey")
        var story = ClaimStory()
        story.scenario.given.policy.providers[passkey] = ProviderPin(
            type: .passkey, issuers: ["x.test"])
        let bob = try story.opened()
        _ = try story.link(bob, registration(of: "own", &story.generator)).result.get()
        let key = EnrolFactor(
            .passkey, by: bob, passkey: (subject: subject("passkey", "key"), domain: "x.test"),
            &story.generator)
        _ = try story.scenario.when(key).result.get()
        let ada = try story.caller(story.signIn(story.code()))
        #expect(ada.account != bob.account)
        let kept = try story.account(bob)
        #expect(kept.linkedProviders == [passkey] && kept.secondFactors == [key.factor.id])
        #expect(try story.address().account == ada.account)
    }

    @Test func `an import reports an address that another account has claimed`() throws {
        var story = ClaimStory()
        _ = try story.opened()
        let imported = ImportPassword(
            story.signUp(), holder: nil, actor: .system, newAccount: story.generator.id(),
            newIdentity: story.generator.id())
        #expect(
            try story.scenario.when(imported) == refused(.providerConflict(.heldByOther)))
    }

    @Test func `an import takes an address that an account only claimed, and no longer uses`()
        throws
    {
        for isPassword in [true, false] {
            var story = ClaimStory()
            let mallory = try story.scenario.given.signIn(subject("google", "mallory"))
            _ = try story.link(mallory, story.claim())
            try story.unlink(mallory, RandomCommands.password)
            let proof = story.signUp()
            let account: AccountID = story.generator.id()
            let effects =
                if isPassword {
                    try story.scenario.when(
                        ImportPassword(
                            proof, holder: nil, actor: .system, newAccount: account,
                            newIdentity: story.generator.id()))
                } else {
                    try story.scenario.when(
                        ImportAccount(
                            externalName("ada"), identities: [],
                            addresses: [
                                ImportAccount.Address(
                                    try #require(proof.address),
                                    ways: [
                                        ImportAccount.Way(
                                            RandomCommands.password, newID: story.generator.id(),
                                            password: NewPassword(hash: "hash 2"))
                                    ])
                            ], actor: .system, newAccount: account))
                }
            #expect(effects.events.map(\.name).contains(.addressReleased))
            #expect(try story.address().account == account && !story.address().isClaimed)
        }
    }

    @Test func `an import gives no password back that the account holder gave up with a claim`()
        throws
    {
        var story = ClaimStory()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        _ = try story.link(ada, story.claim())
        try story.unlink(ada, RandomCommands.password)
        let imported = ImportPassword(
            story.signUp(), holder: subject("google", "ada"), actor: .system,
            newAccount: story.generator.id(), newIdentity: story.generator.id())
        #expect(try story.scenario.when(imported) == then(.passwordImported(ada.account, .kept)))
    }

    @Test func `a former way to sign in whose provider is gone does not come back`() throws {
        var story = ClaimStory()
        let mallory = try story.scenario.given.signIn(subject("google", "mallory"))
        _ = try story.link(mallory, story.claim())
        let all = story.scenario.given.policy
        story.scenario.given.policy.providers[Self.google] = nil
        let ada = try story.caller(story.signIn(story.code()))
        #expect(ada.account == mallory.account)
        #expect(try story.account(ada).linkedProviders == [Self.email])
        story.scenario.given.policy = all
        #expect(
            try story.scenario.given.signIn(subject("google", "mallory")).account != ada.account)
    }
}
