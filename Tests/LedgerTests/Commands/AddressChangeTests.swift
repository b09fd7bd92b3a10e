import Ledger
import LedgerTestSupport
import Testing

/// Changes of addresses, and their return within seven days.
@Suite struct AddressChangeTests {
    private static let email = RandomCommands.email

    /// A ledger with an account that is signed in to with an address.
    private struct Story {
        var scenario = Scenario {
            $0.providers[AddressChangeTests.email] = ProviderPin(type: .email, issuers: [])
            $0.providers[provider("password")] = ProviderPin(type: .password, issuers: [])
            $0.reauthenticationSeconds = .max / 2_000_000
            $0.sessionIdleSeconds = 100 * 86_400
        }
        private var last: UInt128 = 100
        var ada = Caller(account: AccountID(bits: 0), session: SessionID(bits: 0))

        init() throws {
            ada = try #require(try signIn("ada@x.test"))
        }

        mutating func next<Kind>() -> EntityID<Kind> {
            last += 1
            return EntityID(bits: last)
        }

        mutating func proof(_ address: String, challenge: ChallengeID? = nil) -> Proof {
            addressProof(address, new: next(), challenge: challenge)
        }

        /// Signs in with an address; nil when that is refused because no account has it.
        mutating func signIn(_ address: String, createAccount: Bool = true) throws -> Caller? {
            let result = try scenario.when(
                SignIn(
                    proof(address), createAccount: createAccount, refreshToken: .zero,
                    newAccount: next(), newIdentity: next(), newSession: next())
            ).result
            switch result {
            case .success(.signedIn(let grant, _)):
                return Caller(account: grant.account, session: grant.session)
            case .failure(.accountNotFound): return nil
            default: throw ModelLedger.Unexpected(result: result)
            }
        }

        mutating func command(
            _ caller: Caller, from present: String, to address: String,
            challenge: ChallengeID? = nil, password: PasswordVersion? = nil
        ) throws -> ChangeAddress {
            let renewal = SessionRenewal(
                caller: caller, password: password, refreshToken: .zero, newSession: next())
            return ChangeAddress(
                renewal, from: try #require(proof(present).address?.names),
                to: proof(address, challenge: challenge), newFormer: next())
        }

        mutating func change(
            _ caller: Caller, from present: String, to address: String
        ) throws -> Scenario.Effects {
            try scenario.when(try command(caller, from: present, to: address))
        }

        mutating func takeBack(_ address: String) throws -> Scenario.Effects {
            try scenario.when(TakeBackAddress(proof(address), password: nil))
        }

        mutating func merge(_ survivor: Caller, _ absorbed: Caller) throws {
            let authority = MergeAccounts.Authority.support(
                .system,
                MergeAccounts.Case(
                    survivor: survivor.account, absorbed: absorbed.account, reason: "one",
                    reference: "1"))
            let preview = MergeAccounts.Preview(
                authority: authority, keepsAbsorbed: [], digest: sha256)
            let planned = try #require(
                MergeAccounts.Preview.success(in: scenario.when(preview).result.get()))
            _ = try scenario.when(
                MergeAccounts(
                    authority: authority, keepsAbsorbed: [], agreed: planned.digest,
                    digest: sha256)
            ).result.get()
        }

        func liveSessions(of account: AccountID) -> Int {
            scenario.given.state.ledger.sessions.values.count {
                $0.account == account && $0.endedPosition == nil
            }
        }
    }

    @Test func `the new address opens the account, and the former one opens nothing`() throws {
        var story = try Story()
        let identities = story.scenario.given.state.ledger.identities.keys
        let changed = try story.change(story.ada, from: "ada@x.test", to: "new@x.test")
        #expect(changed.events.map(\.name) == [.addressChanged, .signedIn])
        #expect(story.scenario.given.state.ledger.identities.keys == identities)
        #expect(story.liveSessions(of: story.ada.account) == 1)
        #expect(try story.signIn("new@x.test")?.account == story.ada.account)
        #expect(try story.signIn("ada@x.test") == nil)
        let entry = try #require(
            story.scenario.given.log.first { $0.recorded.event.name == .addressChanged })
        #expect(entry.disclosed.contains { $0.name == .email && $0.value == "new@x.test" })
        #expect(!String(decoding: entry.entry, as: UTF8.self).contains("new@"))
    }

    @Test func `the session of a change discloses the new address if its identity has it`() throws {
        for isOther in [false, true] {
            var story = try Story()
            var caller = story.ada
            if isOther {
                let other = subject("google", "ada")
                _ = try story.scenario.given.link(caller, .success(proof(other)), token: 1).get()
                caller = try story.scenario.given.signIn(other)
            }
            _ = try story.change(caller, from: "ada@x.test", to: "new@x.test").result.get()
            let opening = try #require(story.scenario.given.log.last)
            #expect(opening.recorded.event.name == .signedIn)
            let isDisclosed = opening.disclosed.contains {
                $0.name == .email && $0.value == "new@x.test"
            }
            #expect(isDisclosed != isOther)
        }
    }

    @Test func `a proof of the former address takes it back and ends every session`() throws {
        var story = try Story()
        _ = try story.change(story.ada, from: "ada@x.test", to: "thief@x.test")
        let returned = try story.takeBack("ada@x.test")
        #expect(returned.result == .success(.addressTakenBack([Self.email])))
        #expect(returned.events.map(\.name) == [.addressChanged])
        #expect(story.liveSessions(of: story.ada.account) == 0)
        #expect(try story.signIn("ada@x.test")?.account == story.ada.account)
        // The other address is free, and leads to no trace of the account.
        let other = try #require(try story.signIn("thief@x.test"))
        #expect(other.account != story.ada.account)
        #expect(try story.takeBack("ada@x.test") == refused(.invalidCode))
    }

    @Test func `nothing but the former address takes it back`() throws {
        var story = try Story()
        #expect(try story.takeBack("ada@x.test") == refused(.invalidCode))
        _ = try story.change(story.ada, from: "ada@x.test", to: "new@x.test")
        #expect(try story.takeBack("new@x.test") == refused(.invalidCode))
        #expect(try story.takeBack("other@x.test") == refused(.invalidCode))
    }

    @Test func `an address is taken back for seven days, and is free then`() throws {
        var story = try Story()
        _ = try story.change(story.ada, from: "ada@x.test", to: "new@x.test")
        story.scenario.given.advanceClock(bySeconds: HeldAddress.keptSeconds - 1)
        #expect(try story.signIn("ada@x.test") == nil)
        story.scenario.given.advanceClock(bySeconds: 2)
        #expect(try story.takeBack("ada@x.test") == refused(.invalidCode))
        let next = try #require(try story.signIn("ada@x.test"))
        #expect(next.account != story.ada.account)
        #expect(try story.signIn("new@x.test")?.account == story.ada.account)
    }

    @Test func `an address changes once in seven days, so that the first one can return`() throws {
        var story = try Story()
        _ = try story.change(story.ada, from: "ada@x.test", to: "thief@x.test")
        let thief = try #require(try story.signIn("thief@x.test"))
        let command = try story.command(thief, from: "thief@x.test", to: "thief2@x.test")
        guard case .failure(.rateLimited(let wait)) = try story.scenario.when(command).result else {
            Issue.record("a second change was not refused")
            return
        }
        #expect((HeldAddress.keptSeconds - 10...HeldAddress.keptSeconds).contains(wait))
        _ = try story.takeBack("ada@x.test").result.get()
        let ada = try #require(try story.signIn("ada@x.test"))
        // After the return there is no former address.
        _ = try story.change(ada, from: "ada@x.test", to: "new@x.test").result.get()
        story.scenario.given.advanceClock(bySeconds: HeldAddress.keptSeconds + 1)
        let again = try #require(try story.signIn("new@x.test"))
        let back = try story.change(again, from: "new@x.test", to: "ada@x.test")
        #expect(back.events.map(\.name) == [.addressReleased, .addressChanged, .signedIn])
    }

    @Test func `an address of another account is refused, also its former one`() throws {
        var story = try Story()
        let bob = try #require(try story.signIn("bob@x.test"))
        #expect(
            try story.change(story.ada, from: "ada@x.test", to: "bob@x.test")
                == refused(.providerConflict(.heldByOther)))
        _ = try story.change(bob, from: "bob@x.test", to: "new@x.test").result.get()
        #expect(
            try story.change(story.ada, from: "ada@x.test", to: "bob@x.test")
                == refused(.providerConflict(.heldByOther)))
        #expect(
            try story.change(story.ada, from: "ada@x.test", to: "ada@x.test")
                == refused(.providerConflict(.alreadyYours)))
    }

    @Test func `a former address is linked neither elsewhere nor again`() throws {
        var story = try Story()
        let other = try story.scenario.given.signIn(subject("google", "bob"))
        _ = try story.change(story.ada, from: "ada@x.test", to: "new@x.test")
        let ada = try #require(try story.signIn("new@x.test"))
        for (caller, reason) in [
            (other, ConflictRejected.Reason.heldByOther), (ada, .alreadyYours),
        ] {
            let credential = Credential(
                provider: Self.email, digest: sha256([1]),
                check: .success(story.proof("ada@x.test")))
            let link = LinkProvider(
                caller: caller, credential: credential, idempotency: nil,
                newIdentity: story.next())
            #expect(try story.scenario.when(link) == refused(.providerConflict(reason)))
        }
    }

    @Test func `a change names the present address of the caller's own identity`() throws {
        var story = try Story()
        let bob = try #require(try story.signIn("bob@x.test"))
        for present in ["ada@x.test", "unknown@x.test"] {
            #expect(
                try story.change(bob, from: present, to: "new@x.test")
                    == refused(.providerNotLinked))
        }
    }

    @Test func `a change uses up its code and needs a recent sign-in`() throws {
        var story = try Story()
        let challenge = ChallengeID(bits: 9)
        let command = try story.command(
            story.ada, from: "ada@x.test", to: "new@x.test", challenge: challenge)
        #expect(try story.scenario.when(command) == refused(.invalidCode))
        story.scenario.given.openChallenges([challenge])
        story.scenario.given.policy.reauthenticationSeconds = 600
        #expect(try story.scenario.when(command) == refused(.reauthenticationRequired))
        story.scenario.given.policy.reauthenticationSeconds = .max / 2_000_000
        _ = try story.scenario.when(command).result.get()
        #expect(try story.scenario.when(command) == refused(.sessionEnded))
        #expect(!story.scenario.given.state.openChallenges.contains(challenge))
    }

    @Test func `the address of an absorbed account changes for the survivor`() throws {
        var story = try Story()
        let bob = try story.scenario.given.signIn(subject("google", "bob"))
        try story.merge(bob, story.ada)
        let survivor = try #require(try story.signIn("ada@x.test"))
        #expect(survivor.account == bob.account)
        let changed = try story.change(survivor, from: "ada@x.test", to: "new@x.test")
        #expect(changed.events.first?.fact.accounts == [story.ada.account, bob.account])
        #expect(story.liveSessions(of: bob.account) == 1)
        #expect(try story.signIn("new@x.test")?.account == bob.account)
        _ = try story.takeBack("ada@x.test").result.get()
        #expect(story.liveSessions(of: bob.account) == 0)
        #expect(try story.signIn("ada@x.test")?.account == bob.account)
    }

    @Test func `an address is taken back while the account is disabled, and opens nothing`() throws
    {
        var story = try Story()
        _ = try story.change(story.ada, from: "ada@x.test", to: "new@x.test")
        _ = try story.scenario.when(
            ChangeAccess(
                .disable, of: story.ada.account, actor: .system, reason: "lost",
                caseReference: "1")
        ).result.get()
        _ = try story.takeBack("ada@x.test").result.get()
        let signIn = SignIn(
            story.proof("ada@x.test"), createAccount: true, refreshToken: .zero,
            newAccount: story.next(), newIdentity: story.next(), newSession: story.next())
        #expect(try story.scenario.when(signIn) == refused(.accountDisabled))
    }

    @Test func `a password of the address is replaced by its return, whichever way it is proved`()
        throws
    {
        var story = try Story()
        let address = story.proof("ada@x.test")
        func link(_ story: inout Story) throws {
            let proof = Proof(
                subject("password", address.subject.providerID),
                authenticatedAt: Timestamp(seconds: 1_000_000_000), methods: .password,
                email: address.email, address: address.address,
                newPassword: NewPassword(hash: "hash"))
            let credential = Credential(
                provider: provider("password"), digest: sha256([2]), check: .success(proof))
            _ = try story.scenario.when(
                LinkProvider(
                    caller: story.ada, credential: credential, idempotency: nil,
                    newIdentity: story.next())
            ).result.get()
        }
        try link(&story)
        _ = try story.change(story.ada, from: "ada@x.test", to: "thief@x.test").result.get()
        #expect(try story.takeBack("ada@x.test") == refused(.invalidPassword))
        let back = try story.scenario.when(
            TakeBackAddress(story.proof("ada@x.test"), password: NewPassword(hash: "other")))
        #expect(back.events.map(\.name) == [.addressChanged, .passwordSet])
    }

    @Test func `an import opens nothing with a former address`() throws {
        var story = try Story()
        _ = try story.change(story.ada, from: "ada@x.test", to: "new@x.test")
        let address = story.proof("ada@x.test")
        let proof = Proof(
            subject("password", address.subject.providerID),
            authenticatedAt: Timestamp(seconds: 1_000_000_000), methods: .password,
            email: address.email, address: address.address,
            newPassword: NewPassword(hash: "hash"))
        let imported = try story.scenario.when(
            ImportPassword(
                proof, holder: nil, actor: .system, newAccount: story.next(),
                newIdentity: story.next()))
        #expect(imported == then(.passwordImported(story.ada.account, .kept)))
        // For another holder it is the address of another account.
        _ = try story.scenario.given.signIn(subject("google", "bob"))
        let other = try story.scenario.when(
            ImportPassword(
                proof, holder: subject("google", "bob"), actor: .system,
                newAccount: story.next(), newIdentity: story.next()))
        #expect(other == refused(.providerConflict(.heldByOther)))
    }

    @Test func `an erasure frees both addresses`() throws {
        var story = try Story()
        _ = try story.change(story.ada, from: "ada@x.test", to: "new@x.test")
        _ = try story.scenario.when(
            EraseAccount(account: story.ada.account, basis: .operator, actor: .system)
        ).result.get()
        for address in ["ada@x.test", "new@x.test"] {
            #expect(try story.signIn(address)?.account != story.ada.account)
        }
    }
}
