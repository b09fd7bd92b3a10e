import Ledger
import LedgerTestSupport
import Testing

/// Addresses that accounts have before they prove them, in a tenant whose rules allow it.
@Suite struct AddressClaimTests {
    private static let ada = "ada@x.test"
    private static let google = provider("google")
    private static let password = RandomCommands.password
    private static let email = RandomCommands.email

    @Test func `a claim opens an account, and its password signs in`() throws {
        var story = ClaimStory()
        let opened = try story.signIn(story.claim())
        #expect(
            opened.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressClaimed, .passwordSet, .signedIn,
            ])
        let ada = try story.caller(opened)
        #expect(try story.address().isClaimed)
        let again = try story.signIn(story.known())
        #expect(again.events.map(\.name) == [.signedIn])
        #expect(try story.caller(again).account == ada.account)
        #expect(try story.address().isClaimed)
    }

    @Test func `a claim discloses its address, not verified, and no entry has it`() throws {
        var story = ClaimStory()
        _ = try story.opened()
        let log = story.scenario.given.log
        let claimed = try #require(log.first { $0.recorded.event.name == .addressClaimed })
        #expect(claimed.disclosed.contains { $0.name == .email && $0.value == Self.ada })
        let signedIn = try #require(log.last)
        #expect(
            signedIn.disclosed.contains { $0.name == .emailVerified && $0.value == "false" })
        for recording in log {
            #expect(!String(decoding: recording.entry, as: UTF8.self).contains("ada"))
        }
    }

    @Test func `without the rule nothing is claimed`() throws {
        var story = ClaimStory()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        story.scenario.given.policy.confirmLater = false
        #expect(try story.signIn(story.claim()) == refused(.invalidCode))
        #expect(try story.link(bob, story.claim()) == refused(.invalidCode))
    }

    @Test func `an address is claimed once, and a confirmed one not at all`() throws {
        var story = ClaimStory()
        let taken = refused(.providerConflict(.heldByOther))
        _ = try story.opened()
        #expect(try story.signIn(story.claim(hash: "hash 2")) == taken)
        _ = try story.signIn(story.code("eve@x.test"))
        #expect(try story.signIn(story.claim("eve@x.test")) == taken)
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        #expect(try story.link(bob, story.claim()) == taken)
        #expect(try story.link(bob, story.claim("eve@x.test")) == taken)
    }

    @Test func `refused claims of an account count against its budget`() throws {
        var story = ClaimStory()
        _ = try story.opened()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        story.scenario.given.policy.linkBudget = Budget(limit: 2, windowSeconds: 3600)
        for _ in 0..<2 {
            #expect(
                try story.link(bob, story.claim()).result
                    == .failure(.providerConflict(.heldByOther)))
        }
        guard case .failure(.rateLimited) = try story.link(bob, story.claim()).result else {
            Issue.record("a third attempt was made")
            return
        }
    }

    @Test func `an account links a password with a claim`() throws {
        var story = ClaimStory()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        let linked = try story.link(bob, story.claim())
        #expect(linked.result == .success(.linked([Self.google, Self.password])))
        #expect(linked.events.map(\.name) == [.providerLinked, .addressClaimed, .passwordSet])
        #expect(try story.caller(story.signIn(story.known())).account == bob.account)
        // Its own claim is taken, too.
        #expect(
            try story.link(bob, story.claim()).result
                == .failure(.providerConflict(.alreadyYours)))
    }

    @Test func `a code with the claim's password confirms the address`() throws {
        var story = ClaimStory()
        let ada = try story.opened()
        let claimed = try story.address()
        let confirmed = try story.signIn(story.known(confirms: true))
        #expect(confirmed.events.map(\.name) == [.addressConfirmed, .signedIn])
        #expect(try story.caller(confirmed).account == ada.account)
        let held = try story.address()
        #expect(held.id == claimed.id && !held.isClaimed)
        #expect(held.position > claimed.position)
        #expect(story.isLive(ada))
        // A further code signs in.
        let again = try story.signIn(story.known(confirms: true))
        #expect(again.events.map(\.name) == [.signedIn])
    }

    @Test func `the code of a claim is void once the password is another one`() throws {
        var story = ClaimStory()
        let ada = try story.opened()
        let late = try story.known(confirms: true)
        let change = ChangePassword(
            SessionRenewal(
                caller: ada, password: nil, refreshToken: .zero, newSession: story.generator.id()),
            to: NewPassword(hash: "hash 3"))
        _ = try story.scenario.when(change).result.get()
        #expect(try story.signIn(late) == refused(.invalidCode))
        #expect(try story.address().isClaimed)
    }

    @Test func `an account with other ways loses the claim, and the prover opens one`() throws {
        for isSignUp in [false, true] {
            var story = ClaimStory()
            let bob = try story.scenario.given.signIn(subject("google", "bob"))
            _ = try story.link(bob, story.claim())
            let session = try story.caller(story.signIn(story.known()))
            let old = try story.known()
            let claimed = try story.address()
            let proof = isSignUp ? story.signUp() : story.code()
            #expect(
                try story.signIn(proof, createAccount: false) == refused(.accountNotFound))
            let proved = try story.signIn(proof)
            let middle: [Event.Name] = [.providerUnlinked, .addressReleased, .addressConfirmed]
            #expect(
                proved.events.map(\.name)
                    == [.accountOpened, .providerLinked] + middle
                    + (isSignUp ? [.passwordSet] : []) + [.signedIn])
            let ada = try story.caller(proved)
            #expect(ada.account != bob.account)
            #expect(try story.address().id != claimed.id)
            #expect(try story.address().account == ada.account)
            #expect(try story.account(bob).linkedProviders == [Self.google])
            #expect(story.isLive(bob) && !story.isLive(session))
            #expect(try story.signIn(old) == refused(.invalidPassword))
        }
    }

    @Test func `a disabled account is not handed over, and loses its claim`() throws {
        var story = ClaimStory()
        let mallory = try story.opened()
        let disabling = ChangeAccess(
            .disable, of: mallory.account, actor: .system, reason: "stolen", caseReference: "6")
        _ = try story.scenario.when(disabling)
        let proved = try story.signIn(story.code())
        #expect(
            proved.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressReleased, .addressConfirmed, .signedIn,
            ])
        #expect(try story.caller(proved).account != mallory.account)
        #expect(try story.address().account == story.caller(proved).account)
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        _ = try story.link(bob, story.claim("bob@x.test"))
        _ = try story.scenario.when(
            ChangeAccess(
                .disable, of: bob.account, actor: .system, reason: "stolen", caseReference: "6"))
        #expect(try story.caller(story.signIn(story.code("bob@x.test"))).account != bob.account)
    }

    @Test func `a link proves an address that another account has claimed`() throws {
        var story = ClaimStory()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        _ = try story.link(bob, story.claim())
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        let linked = try story.link(ada, story.code())
        #expect(
            linked.events.map(\.name) == [
                .providerLinked, .providerUnlinked, .addressReleased, .addressConfirmed,
            ])
        #expect(try story.account(bob).linkedProviders == [Self.google])
        #expect(try story.caller(story.signIn(story.code())).account == ada.account)
    }

    @Test func `a refused link by a code of another account's password address is recorded`() throws
    {
        var story = ClaimStory()
        let ada = try story.caller(story.signIn(story.signUp()))
        let identity = try #require(try story.account(ada).links.first?.identity)
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        let conflict = ConflictRejected(
            account: bob.account, holder: ada.account, identity: identity,
            provider: RandomCommands.email, reason: .heldByOther)
        #expect(
            try story.link(bob, story.code())
                == refused(.providerConflict(.heldByOther), .conflictRejected(conflict)))
    }

    @Test func `a link takes nothing from an account that has nothing but the claim`() throws {
        var story = ClaimStory()
        let mallory = try story.opened()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        #expect(try story.link(ada, story.code()) == refused(.providerConflict(.heldByOther)))
        #expect(
            try story.link(ada, story.signUp()).result == .failure(.providerConflict(.heldByOther))
        )
        // The prover signs in to it instead, and may merge the two.
        #expect(try story.caller(story.signIn(story.code())).account == mallory.account)
    }

    @Test func `an account that links the address by a code confirms its claim`() throws {
        var story = ClaimStory()
        let ada = try story.opened()
        let claimed = try story.address()
        let linked = try story.link(ada, story.code())
        #expect(linked.events.map(\.name) == [.providerLinked, .addressConfirmed])
        #expect(try story.address().id == claimed.id && !story.address().isClaimed)
        #expect(try story.caller(story.signIn(story.code())).account == ada.account)
        #expect(try story.caller(story.signIn(story.known())).account == ada.account)
    }

    @Test func `a claim is not reset, replaced or found by a merge`() throws {
        var story = ClaimStory()
        let ada = try story.opened()
        let reset = try ResetPassword(
            story.known(confirms: true), password: NewPassword(hash: "hash 4"))
        #expect(try story.scenario.when(reset) == refused(.invalidCode))
        let change = try ChangeAddress(
            SessionRenewal(
                caller: ada, password: nil, refreshToken: .zero, newSession: story.generator.id()),
            from: #require(story.code().address?.names), to: story.code("new@x.test"),
            newFormer: story.generator.id())
        #expect(try story.scenario.when(change) == refused(.providerNotLinked))
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        for proof in [story.code(), story.claim()] {
            let preview = MergeAccounts.Preview(
                authority: .accountHolder(
                    bob,
                    Credential(
                        provider: proof.subject.provider, digest: .zero, check: .success(proof))),
                keepsAbsorbed: [], digest: sha256)
            #expect(try story.scenario.when(preview) == refused(.accountNotFound))
        }
    }

    @Test func `a change of address takes the claim of an account with other ways`() throws {
        var story = ClaimStory()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        _ = try story.link(bob, story.claim())
        let eve = try story.caller(story.signIn(story.code("eve@x.test")))
        func change() throws -> ChangeAddress {
            try ChangeAddress(
                SessionRenewal(
                    caller: eve, password: nil, refreshToken: .zero,
                    newSession: story.generator.id()),
                from: #require(story.code("eve@x.test").address?.names), to: story.code(),
                newFormer: story.generator.id())
        }
        let changed = try story.scenario.when(change())
        #expect(
            changed.events.map(\.name) == [
                .providerUnlinked, .addressReleased, .addressChanged, .signedIn,
            ])
        #expect(try story.caller(story.signIn(story.code())).account == eve.account)
    }

    @Test func `a claim moves with a merge, and is confirmed or lost at the survivor`() throws {
        for confirms in [true, false] {
            var story = ClaimStory()
            let ada = try story.opened()
            let bob = try story.scenario.given.signIn(subject("google", "bob"))
            _ = try story.merge(bob, ada)
            if confirms {
                let confirmed = try story.signIn(story.known(confirms: true))
                #expect(confirmed.events.map(\.name) == [.addressConfirmed, .signedIn])
                #expect(try story.caller(confirmed).account == bob.account)
                // The event is about the account that has claimed it.
                #expect(confirmed.events.first?.fact.accounts == [ada.account])
            } else {
                let proved = try story.caller(story.signIn(story.code()))
                #expect(proved.account != bob.account)
                #expect(try story.account(bob).linkedProviders == [Self.google])
            }
        }
    }

    @Test func `a claim that a merge left behind prevents no proof`() throws {
        var story = ClaimStory()
        let bob = try story.caller(story.signIn(story.claim("bob@x.test")))
        let ada = try story.opened()
        let merge = try story.merge(bob, ada)
        let proved = try story.signIn(story.code())
        #expect(
            proved.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressReleased, .addressConfirmed, .signedIn,
            ])
        #expect(try story.caller(proved).account != bob.account)
        // The merge can still be undone; the address stays with the person who proved it.
        let undone = try story.scenario.when(
            UnmergeAccounts(
                merge: merge, survivor: bob.account, absorbed: ada.account, actor: .system,
                reason: "two", caseReference: "8", isPreview: false))
        #expect(undone.events.map(\.name) == [.accountsUnmerged])
        #expect(try story.caller(story.signIn(story.code())).account != ada.account)
    }

    @Test func `an unlinked claim changes hands as any address does`() throws {
        var story = ClaimStory()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        _ = try story.link(bob, story.claim())
        try story.unlink(bob, Self.password)
        // Another account's claim proves nothing, and its own begins anew.
        #expect(
            try story.signIn(story.claim()) == refused(.providerConflict(.heldByOther)))
        #expect(
            try story.link(bob, story.claim()).events.map(\.name) == [
                .providerLinked, .addressReleased, .addressClaimed, .passwordSet,
            ])
        try story.unlink(bob, Self.password)
        let proved = try story.caller(story.signIn(story.code()))
        #expect(proved.account != bob.account)
    }

    @Test func `an address that its account has proved stays proved after a claim of its own`()
        throws
    {
        var story = ClaimStory()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        _ = try story.link(bob, story.code())
        let proved = try story.address()
        try story.unlink(bob, Self.email)
        let linked = try story.link(bob, story.claim())
        #expect(linked.events.map(\.name) == [.providerLinked, .passwordSet])
        #expect(try story.address() == proved)
        #expect(try story.caller(story.signIn(story.known())).account == bob.account)
    }

    @Test func `an erasure frees a claimed address`() throws {
        var story = ClaimStory()
        let ada = try story.opened()
        _ = try story.scenario.when(
            EraseAccount(account: ada.account, basis: .dataSubjectRequest, actor: .system)
        ).result.get()
        #expect(story.scenario.given.state.ledger.addresses.isEmpty)
        #expect(try story.opened().account != ada.account)
    }

    @Test func `an account confirms its claim with its second factor`() throws {
        var story = ClaimStory()
        let ada = try story.opened()
        let enrolment = EnrolFactor(by: ada, &story.generator)
        _ = try story.scenario.when(enrolment).result.get()
        let proof = try story.known(confirms: true)
        #expect(try story.signIn(proof) == refused(.secondFactorRequired(ada.account)))
        #expect(try story.address().isClaimed)
        let second = SignIn(
            proof, of: ada.account, factor: enrolment.factor.id, counter: 50, &story.generator)
        let confirmed = try story.scenario.when(second)
        #expect(confirmed.events.map(\.name) == [.addressConfirmed, .signedIn])
    }
}
