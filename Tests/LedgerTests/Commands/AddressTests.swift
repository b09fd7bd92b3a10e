import Ledger
import LedgerTestSupport
import Testing

/// Accounts that are found by addresses.
@Suite struct AddressTests {
    /// A ledger in which addresses sign in, and the ids that its commands get.
    private struct Story {
        var scenario = Scenario {
            $0.providers[RandomCommands.email] = ProviderPin(type: .email, issuers: [])
            $0.reauthenticationSeconds = .max / 2_000_000
        }
        private var last: UInt128 = 100

        mutating func next<Kind>() -> EntityID<Kind> {
            last += 1
            return EntityID(bits: last)
        }

        mutating func proof(_ address: String, challenge: ChallengeID? = nil) -> Proof {
            addressProof(address, new: next(), challenge: challenge)
        }

        /// Signs in with an address.
        mutating func signIn(
            _ proof: Proof, createAccount: Bool = true
        ) throws -> Scenario.Effects {
            try scenario.when(
                SignIn(
                    proof, createAccount: createAccount, refreshToken: .zero, newAccount: next(),
                    newIdentity: next(), newSession: next()))
        }

        mutating func signIn(_ address: String) throws -> Caller {
            let result = try signIn(proof(address)).result
            guard case .success(.signedIn(let grant, _)) = result else {
                throw ModelLedger.Unexpected(result: result)
            }
            return Caller(account: grant.account, session: grant.session)
        }

        mutating func link(_ caller: Caller, _ address: String) throws -> Scenario.Effects {
            let credential = Credential(
                provider: RandomCommands.email, digest: sha256(Array(address.utf8)),
                check: .success(proof(address)))
            return try scenario.when(
                LinkProvider(
                    caller: caller, credential: credential, idempotency: nil, newIdentity: next()))
        }

        mutating func merge(
            _ survivor: Caller, _ absorbed: Caller, keepsAbsorbed: Set<ProviderName> = []
        ) throws -> EventID {
            let authority = MergeAccounts.Authority.support(
                .system,
                MergeAccounts.Case(
                    survivor: survivor.account, absorbed: absorbed.account, reason: "one",
                    reference: "1"))
            let preview = MergeAccounts.Preview(
                authority: authority, keepsAbsorbed: keepsAbsorbed, digest: sha256)
            let planned = try #require(
                MergeAccounts.Preview.success(in: scenario.when(preview).result.get()))
            let merged = try scenario.when(
                MergeAccounts(
                    authority: authority, keepsAbsorbed: keepsAbsorbed, agreed: planned.digest,
                    digest: sha256))
            return try #require(MergeAccounts.success(in: merged.result.get())?.done).event
        }

        func account(_ id: AccountID) throws -> Account {
            try #require(scenario.given.account(id))
        }
    }

    @Test func `an unknown address opens an account, and the same address returns to it`() throws {
        var story = Story()
        let opened = try story.signIn(story.proof("ada@x.test"))
        #expect(
            opened.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressConfirmed, .signedIn,
            ])
        let again = try story.signIn(story.proof("ada@x.test"))
        #expect(again.events.map(\.name) == [.signedIn])
        #expect(
            again.events.first?.fact.accounts == opened.events.first?.fact.accounts)
        let other = try story.signIn(story.proof("bob@x.test"))
        #expect(other.events.first?.fact.accounts != opened.events.first?.fact.accounts)
    }

    @Test func `an unknown address opens nothing when the client asks for that`() throws {
        var story = Story()
        #expect(
            try story.signIn(story.proof("ada@x.test"), createAccount: false)
                == refused(.accountNotFound))
    }

    @Test func `an address is disclosed, verified, and in no entry`() throws {
        var story = Story()
        _ = try story.signIn("ada@x.test")
        let confirmed = try #require(
            story.scenario.given.log.first {
                $0.recorded.event.name == .addressConfirmed
            })
        #expect(confirmed.disclosed.contains { $0.name == .email && $0.value == "ada@x.test" })
        for recording in story.scenario.given.log {
            #expect(!String(decoding: recording.entry, as: UTF8.self).contains("ada"))
        }
    }

    @Test func `an address is linked once, and to no second account`() throws {
        var story = Story()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        let linked = try story.link(ada, "ada@x.test")
        #expect(linked.events.map(\.name) == [.providerLinked, .addressConfirmed])
        #expect(
            try story.link(ada, "ada@x.test").result
                == .failure(.providerConflict(.alreadyYours)))
        #expect(
            try story.link(ada, "other@x.test").result
                == .failure(.providerConflict(.providerTaken)))
        let refused = try story.link(bob, "ada@x.test")
        #expect(refused.result == .failure(.providerConflict(.heldByOther)))
        #expect(refused.events.map(\.name) == [.conflictRejected])
        #expect(try story.signIn("ada@x.test").account == ada.account)
    }

    @Test func `an account has one identity found by an address, whatever the rules allow`() throws
    {
        var story = Story()
        story.scenario.given.policy.severalPerProvider = true
        let ada = try story.signIn("ada@x.test")
        #expect(
            try story.link(ada, "other@x.test").result
                == .failure(.providerConflict(.providerTaken)))
    }

    @Test func `an unlinked address is given up to the next person who proves it`() throws {
        var story = Story()
        let ada = try story.signIn("ada@x.test")
        _ = try story.scenario.given.link(ada, .success(proof(subject("google", "ada"))), token: 1)
            .get()
        _ = try story.scenario.given.unlink(ada, "email").get()
        let next = try story.signIn(story.proof("ada@x.test"))
        #expect(
            next.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressReleased, .addressConfirmed, .signedIn,
            ])
        #expect(story.scenario.given.state.ledger.addresses.count == 1)
        #expect(next.events.last?.fact.accounts != [ada.account])
    }

    @Test func `the account that unlinked an address links it again`() throws {
        var story = Story()
        let first = try story.scenario.given.signIn(subject("google", "ada"))
        _ = try story.link(first, "ada@x.test")
        _ = try story.scenario.given.unlink(first, "email").get()
        #expect(
            try story.link(first, "ada@x.test").events.map(\.name)
                == [.providerLinked, .addressReleased, .addressConfirmed])
        #expect(try story.signIn("ada@x.test").account == first.account)
    }

    @Test func `a replaced address no longer opens the account`() throws {
        var story = Story()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        _ = try story.link(ada, "old@x.test")
        _ = try story.scenario.given.unlink(ada, "email").get()
        _ = try story.link(ada, "new@x.test")
        #expect(try story.signIn("new@x.test").account == ada.account)
        let next = try story.signIn(story.proof("old@x.test"))
        #expect(
            next.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressReleased, .addressConfirmed, .signedIn,
            ])
        #expect(try story.signIn("old@x.test").account != ada.account)
        #expect(try story.signIn("new@x.test").account == ada.account)
    }

    @Test func `an address that was merged and then unlinked is free again`() throws {
        var story = Story()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        let other = try story.signIn("ada@x.test")
        _ = try story.merge(ada, other)
        _ = try story.scenario.given.unlink(ada, "email").get()
        let linked = try story.link(ada, "ada@x.test")
        #expect(
            linked.events.map(\.name) == [.providerLinked, .addressReleased, .addressConfirmed])
        #expect(try story.signIn("ada@x.test").account == ada.account)
        _ = try story.scenario.given.unlink(ada, "email").get()
        #expect(try story.signIn(story.proof("ada@x.test")).events.count == 5)
    }

    @Test func `sign-ins with an address have the budget of their identity`() throws {
        var story = Story()
        story.scenario.given.policy.signInBudget = Budget(limit: 3, windowSeconds: 3600)
        for _ in 0..<3 { _ = try story.signIn("ada@x.test") }
        guard case .failure(.rateLimited) = try story.signIn(story.proof("ada@x.test")).result
        else {
            Issue.record("it was not limited")
            return
        }
    }

    @Test func `a merge moves the identity, and its address leads to the survivor`() throws {
        var story = Story()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        let other = try story.signIn("ada@x.test")
        let merge = try story.merge(ada, other)
        #expect(try story.signIn("ada@x.test").account == ada.account)
        _ = try story.scenario.when(
            UnmergeAccounts(
                merge: merge, survivor: ada.account, absorbed: other.account, actor: .system,
                reason: "two", caseReference: "2", isPreview: false)
        ).result.get()
        #expect(try story.signIn("ada@x.test").account == other.account)
    }

    @Test(arguments: [false, true])
    func `an address that a merge left behind opens nothing until the merge is undone`(
        keepsAbsorbed: Bool
    ) throws {
        var story = Story()
        let ada = try story.signIn("ada@x.test")
        let other = try story.signIn("other@x.test")
        let (kept, left) =
            keepsAbsorbed ? ("other@x.test", "ada@x.test") : ("ada@x.test", "other@x.test")
        let merge = try story.merge(
            ada, other, keepsAbsorbed: keepsAbsorbed ? [RandomCommands.email] : [])
        #expect(try story.signIn(kept).account == ada.account)
        #expect(try story.signIn(story.proof(left)) == refused(.accountNotFound))
        let third = try story.scenario.given.signIn(subject("google", "third"))
        #expect(try story.link(third, left) == refused(.providerConflict(.heldByOther)))
        _ = try story.scenario.when(
            UnmergeAccounts(
                merge: merge, survivor: ada.account, absorbed: other.account, actor: .system,
                reason: "two", caseReference: "2", isPreview: false)
        ).result.get()
        #expect(try story.signIn("ada@x.test").account == ada.account)
        #expect(try story.signIn("other@x.test").account == other.account)
    }

    @Test func `an erased account gives up its address`() throws {
        var story = Story()
        let ada = try story.signIn("ada@x.test")
        _ = try story.scenario.when(
            EraseAccount(account: ada.account, basis: .dataSubjectRequest, actor: .system)
        ).result.get()
        let next = try story.signIn(story.proof("ada@x.test"))
        #expect(
            next.events.map(\.name) == [
                .accountOpened, .providerLinked, .addressConfirmed, .signedIn,
            ])
    }

    @Test func `a challenge is used once, and only by a command that succeeds`() throws {
        var story = Story()
        let challenge = ChallengeID(bits: 7)
        let proof = story.proof("ada@x.test", challenge: challenge)
        #expect(try story.signIn(proof) == refused(.invalidCode))
        story.scenario.given.openChallenges([challenge])
        #expect(try story.signIn(proof, createAccount: false) == refused(.accountNotFound))
        #expect(try story.signIn(proof).events.count == 4)
        #expect(try story.signIn(proof) == refused(.invalidCode))
    }

    @Test func `support links no address again, because its holder has to prove it`() throws {
        var story = Story()
        let ada = try story.scenario.given.signIn(subject("google", "ada"))
        _ = try story.link(ada, "ada@x.test")
        let identity = try #require(story.scenario.given.identities(of: ada, "email").first)
        _ = try story.scenario.given.unlink(ada, "email").get()
        #expect(
            try story.scenario.given.relink(identity, to: ada.account)
                == .failure(.relinkRefused(.address)))
    }
}
