import Ledger
import LedgerTestSupport
import Testing

/// Phone numbers that were not used for so long that another person may have them.
@Suite struct RecycledNumberTests {
    private static let phone = RandomCommands.phone
    private static let number = "+4915123456789"

    /// A ledger whose rules let a number be unused for 180 days.
    private struct Story {
        var claims = ClaimStory()

        init() {
            claims.scenario.given.policy.providers[RecycledNumberTests.phone] = ProviderPin(
                type: .phone, issuers: [])
        }

        mutating func advance(days: Int64) {
            claims.scenario.given.advanceClock(bySeconds: days * 86_400)
        }

        /// The proof of a code that was sent to a number.
        mutating func code(_ number: String = RecycledNumberTests.number) -> Proof {
            numberProof(number, new: claims.generator.id())
        }

        mutating func signIn(createAccount: Bool = true) throws -> Scenario.Effects {
            try claims.signIn(code(), createAccount: createAccount)
        }

        /// Signs in with Google, and opens an account for a new name.
        mutating func google(_ name: String) throws -> Caller {
            try claims.scenario.given.signIn(subject("google", name))
        }

        mutating func link(_ caller: Caller) throws -> Scenario.Effects {
            try claims.link(caller, code())
        }

        /// Opens an account with the number, which it loses while its session goes on.
        mutating func withLostNumber() throws -> Caller {
            claims.scenario.given.policy.sessionIdleSeconds = 400 * 86_400
            claims.scenario.given.policy.sessionLifetimeSeconds = 400 * 86_400
            let caller = try claims.caller(signIn())
            advance(days: 181)
            #expect(try claims.caller(signIn()).account != caller.account)
            return caller
        }

        /// Opens an account with Google and the number.
        mutating func withGoogle(_ name: String = "ada") throws -> Caller {
            let caller = try google(name)
            _ = try link(caller).result.get()
            return caller
        }

        /// Replaces the number of an account by the one of the story.
        mutating func change(_ caller: Caller, from present: String) throws -> Scenario.Effects {
            let renewal = SessionRenewal(
                caller: caller, password: nil, refreshToken: .zero,
                newSession: claims.generator.id())
            return try claims.scenario.when(
                ChangeAddress(
                    renewal, from: try #require(code(present).address?.names), to: code(),
                    newFormer: claims.generator.id()))
        }
    }

    @Test func `the code of an unused number opens no account that has another way`() throws {
        var story = Story()
        let ada = try story.withGoogle()
        story.advance(days: 179)
        #expect(try story.claims.caller(story.signIn()).account == ada.account)
        story.advance(days: 181)
        #expect(try story.signIn() == refused(.addressUnused))
        #expect(try story.signIn(createAccount: false) == refused(.addressUnused))
    }

    @Test func `a number that is all an account has opens a new one`() throws {
        var story = Story()
        let former = try story.claims.caller(story.signIn())
        let held = try story.claims.address()
        story.advance(days: 181)
        #expect(try story.signIn(createAccount: false) == refused(.accountNotFound))
        let opened = try story.signIn()
        #expect(
            opened.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressReleased, .addressConfirmed, .signedIn,
            ])
        #expect(
            opened.events.contains(
                .addressReleased(
                    AddressReleased(account: former.account, address: held.id, cause: .proved))))
        let next = try story.claims.caller(opened)
        #expect(next.account != former.account)
        #expect(try story.claims.address().account == next.account)
        #expect(try story.claims.address().id != held.id)
        #expect(try story.claims.account(former).linkedProviders == [Self.phone])
        #expect(try story.claims.caller(story.signIn()).account == next.account)
    }

    @Test func `an account that has lost its number links another one in its place`() throws {
        var story = Story()
        let former = try story.withLostNumber()
        let linked = try story.claims.link(former, story.code("+4915123456780"))
        #expect(
            linked.events.map(\.name) == [.providerLinked, .addressConfirmed, .providerUnlinked])
        #expect(linked.result == .success(.linked([Self.phone])))
        #expect(try story.claims.account(former).links.count == 1)
        #expect(!story.claims.isLive(former), "its session was opened with the lost number")
        let again = try story.claims.signIn(story.code("+4915123456780"))
        #expect(try story.claims.caller(again).account == former.account)
    }

    @Test func `an account whose number is in use links no other one`() throws {
        var story = Story()
        let ada = try story.claims.caller(story.signIn())
        #expect(
            try story.claims.link(ada, story.code("+4915123456780")).result
                == .failure(.providerConflict(.providerTaken)))
    }

    @Test func `an account with a claim and a lost number is handed over with the claim`() throws {
        var story = Story()
        let former = try story.withLostNumber()
        _ = try story.claims.link(former, story.claims.claim()).result.get()
        let ada = try story.claims.caller(story.claims.signIn(story.claims.code()))
        #expect(ada.account == former.account && !story.claims.isLive(former))
        #expect(try story.claims.account(ada).linkedProviders == [RandomCommands.email])
    }

    @Test func `a lost number is no other way when the rules lose a provider`() throws {
        var story = Story()
        let former = try story.withLostNumber()
        let google = provider("google")
        _ = try story.claims.link(former, proof(subject("google", "ada"))).result.get()
        let policy = story.claims.scenario.given.policy
        var fewer = policy
        fewer.providers[google] = nil
        _ = try story.claims.scenario.when(
            .setRules(SetRules(policy, condition: .noneRecorded))
        ).result.get()
        #expect(
            try story.claims.scenario.when(
                .setRules(SetRules(fewer, condition: .withoutLockOuts)))
                == refused(.accountsLockedOut([google])))
    }

    @Test func `a disabled account keeps its number, and sign-ins with it are refused`() throws {
        for hasOther in [false, true] {
            var story = Story()
            let ada = try hasOther ? story.withGoogle() : story.claims.caller(story.signIn())
            let disabling = ChangeAccess(
                .disable, of: ada.account, actor: .system, reason: "stolen", caseReference: "1")
            _ = try story.claims.scenario.when(.changeAccess(disabling)).result.get()
            story.advance(days: 181)
            #expect(try story.signIn() == refused(.accountDisabled))
            #expect(try story.claims.address().account == ada.account)
        }
    }

    @Test func `each sign-in and each refresh uses the number`() throws {
        var story = Story()
        let ada = try story.claims.caller(story.signIn())
        for _ in 0..<10 {
            story.advance(days: 20)
            let token = try #require(story.claims.scenario.given.refreshToken(of: ada))
            _ = try story.claims.scenario.given.refresh(ada, presenting: token).get()
        }
        for _ in 0..<3 {
            story.advance(days: 150)
            #expect(try story.claims.caller(story.signIn()).account == ada.account)
        }
        // Another way is no use of the number.
        let bob = try story.google("bob")
        let other = story.code("+4915123456780")
        _ = try story.claims.link(bob, other).result.get()
        story.advance(days: 100)
        _ = try story.google("bob")
        story.advance(days: 100)
        let code = story.code("+4915123456780")
        #expect(try story.claims.signIn(code) == refused(.addressUnused))
    }

    @Test func `with the rule off a number is used for ever`() throws {
        var story = Story()
        story.claims.scenario.given.policy.phoneUnusedDays = 0
        let ada = try story.withGoogle()
        story.advance(days: 10_000)
        #expect(try story.claims.caller(story.signIn()).account == ada.account)
    }

    @Test func `the time is the rule's`() throws {
        var story = Story()
        story.claims.scenario.given.policy.phoneUnusedDays = 30
        _ = try story.withGoogle()
        story.advance(days: 31)
        #expect(try story.signIn() == refused(.addressUnused))
    }

    @Test func `an e-mail address has no such time`() throws {
        var story = Story()
        let ada = try story.claims.caller(story.claims.signIn(story.claims.code()))
        story.advance(days: 10_000)
        let again = try story.claims.signIn(story.claims.code())
        #expect(try story.claims.caller(again).account == ada.account)
    }

    @Test func `another account gets a number that was all its account had`() throws {
        for isLinked in [true, false] {
            var story = Story()
            let former = try story.claims.caller(story.signIn())
            let held = try story.claims.address()
            story.advance(days: 181)
            let bob = try story.google("bob")
            let release = Event.addressReleased(
                AddressReleased(account: former.account, address: held.id, cause: .proved))
            if isLinked {
                let linked = try story.link(bob)
                #expect(
                    linked.events.map(\.name)
                        == [.providerLinked, .addressReleased, .addressConfirmed])
                #expect(linked.events.contains(release))
            } else {
                _ = try story.claims.link(bob, story.code("+4915123456780")).result.get()
                let changed = try story.change(bob, from: "+4915123456780")
                #expect(
                    changed.events.map(\.name) == [.addressReleased, .addressChanged, .signedIn])
                #expect(changed.events.contains(release))
            }
            #expect(try story.claims.caller(story.signIn()).account == bob.account)
        }
    }

    @Test func `no account gets a number whose account has another way`() throws {
        var story = Story()
        let ada = try story.withGoogle()
        story.advance(days: 181)
        let bob = try story.google("bob")
        #expect(
            try story.link(bob).result == .failure(.providerConflict(.heldByOther)))
        _ = try story.claims.link(bob, story.code("+4915123456780")).result.get()
        #expect(
            try story.change(bob, from: "+4915123456780")
                == refused(.providerConflict(.heldByOther)))
        let held = story.claims.scenario.given.state.ledger.addresses.values
        #expect(Set(held.map(\.account)) == [ada.account, bob.account])
    }

    @Test(arguments: [false, true])
    func `the code of an unused number proves no account to merge`(hasOther: Bool) throws {
        var story = Story()
        if hasOther {
            _ = try story.withGoogle()
        } else {
            _ = try story.signIn()
        }
        for days: Int64 in [0, 181] {
            story.advance(days: days)
            let bob = try story.google("bob")
            let credential = Credential(
                provider: Self.phone, digest: digest(story.claims.generator.bytes(32)),
                check: .success(story.code()))
            let preview = MergeAccounts.Preview(
                authority: .accountHolder(bob, credential), keepsAbsorbed: [], digest: sha256)
            let effects = try story.claims.scenario.when(preview)
            #expect(effects.events.isEmpty)
            #expect((effects.result == .failure(.addressUnused)) == (days > 0))
        }
    }

    @Test func `its account confirms an unused number again`() throws {
        var story = Story()
        let ada = try story.withGoogle()
        let held = try story.claims.address()
        story.advance(days: 181)
        let back = try story.google("ada")
        let confirmed = AddressConfirmed(account: ada.account, address: held.id, kind: .phone)
        #expect(
            try story.link(back)
                == then(.linked([provider("google"), Self.phone]), .addressConfirmed(confirmed)))
        let now = try story.claims.address()
        #expect(now.id == held.id && now.position > held.position)
        #expect(
            try story.link(back).result == .failure(.providerConflict(.alreadyYours)))
        story.advance(days: 179)
        #expect(try story.claims.caller(story.signIn()).account == ada.account)
    }

    @Test func `a number of an absorbed account is confirmed again for that account`() throws {
        var story = Story()
        let ada = try story.withGoogle()
        let bob = try story.claims.scenario.given.signIn(subject("apple", "bob"))
        _ = try story.claims.merge(bob, ada)
        story.advance(days: 181)
        #expect(try story.signIn() == refused(.addressUnused))
        let back = try story.claims.scenario.given.signIn(subject("apple", "bob"))
        let linked = try story.link(back)
        guard case .addressConfirmed(let fact) = linked.events.first else {
            throw ModelLedger.Unexpected(result: linked.result)
        }
        #expect(linked.events.count == 1 && fact.account == ada.account)
        #expect(try story.claims.caller(story.signIn()).account == bob.account)
    }

    @Test func `with a second factor an unused number signs in as ever`() throws {
        var story = Story()
        let ada = try story.claims.caller(story.signIn())
        let enrolment = EnrolFactor(by: ada, &story.claims.generator)
        _ = try story.claims.scenario.when(enrolment).result.get()
        story.advance(days: 181)
        #expect(try story.signIn() == refused(.secondFactorRequired(ada.account)))
        let bob = try story.google("bob")
        #expect(
            try story.link(bob).result == .failure(.providerConflict(.heldByOther)))
        let second = SignIn(
            story.code(), of: ada.account, factor: enrolment.factor.id, counter: 42,
            &story.claims.generator)
        #expect(
            try story.claims.caller(story.claims.scenario.when(second)).account == ada.account)
    }
}
