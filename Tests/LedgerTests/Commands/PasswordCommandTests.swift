import Ledger
import LedgerTestSupport
import Testing

/// Passwords in the ledger: their versions, and the sessions that end with them.
@Suite struct PasswordCommandTests {
    private static let password = provider("password")

    private struct Story {
        var scenario = Scenario {
            $0.providers[PasswordCommandTests.password] = ProviderPin(type: .password, issuers: [])
        }
        private var last: UInt128 = 100
        var caller = Caller(account: AccountID(bits: 0), session: SessionID(bits: 0))
        var version = PasswordVersion(identity: IdentityID(bits: 0), version: LogPosition(0))

        init() throws {
            let signedUp = try scenario.when(signIn(proof(new: "hash 1"), createAccount: true))
            #expect(
                signedUp.events.map(\.name) == [
                    .accountOpened, .providerLinked, .addressConfirmed, .passwordSet, .signedIn,
                ])
            guard case .success(.signedIn(let grant, _)) = signedUp.result else {
                throw ModelLedger.Unexpected(result: signedUp.result)
            }
            caller = Caller(account: grant.account, session: grant.session)
            version = try current()
        }

        mutating func next<Kind>() -> EntityID<Kind> {
            last += 1
            return EntityID(bits: last)
        }

        /// The present version of the only password.
        func current() throws -> PasswordVersion {
            let (identity, version) = try #require(
                scenario.given.state.ledger.passwords.first)
            return PasswordVersion(identity: identity, version: version)
        }

        mutating func proof(
            password: PasswordVersion? = nil, new: String? = nil, challenge: ChallengeID? = nil
        ) -> Proof {
            let address = addressProof("ada@x.test", new: next())
            return Proof(
                subject("password", address.subject.providerID),
                authenticatedAt: Timestamp(seconds: 1_000_000_000), methods: .password,
                email: address.email, address: address.address, challenge: challenge,
                password: password, newPassword: new.map { NewPassword(hash: $0) })
        }

        mutating func signIn(_ proof: Proof, createAccount: Bool = false) -> SignIn {
            SignIn(
                proof, createAccount: createAccount, refreshToken: .zero, newAccount: next(),
                newIdentity: next(), newSession: next())
        }

        mutating func change(_ former: PasswordVersion?) -> ChangePassword {
            ChangePassword(
                SessionRenewal(
                    caller: caller, password: former, refreshToken: .zero, newSession: next()),
                to: NewPassword(hash: "hash 2"))
        }

        var liveSessions: Int {
            scenario.given.state.ledger.sessions.values.count { $0.endedPosition == nil }
        }
    }

    @Test func `a password signs in while it is the current one`() throws {
        var story = try Story()
        let command = story.signIn(story.proof(password: story.version))
        #expect(try story.scenario.when(command).events.map(\.name) == [.signedIn])
        _ = try story.scenario.when(story.change(story.version)).result.get()
        let late = story.signIn(story.proof(password: story.version))
        #expect(try story.scenario.when(late) == refused(.invalidPassword))
        let now = story.signIn(story.proof(password: try story.current()))
        #expect(try story.scenario.when(now).events.map(\.name) == [.signedIn])
    }

    @Test func `a change ends every session and opens one`() throws {
        var story = try Story()
        _ = try story.scenario.when(story.signIn(story.proof(password: story.version)))
        #expect(story.liveSessions == 2)
        let changed = try story.scenario.when(story.change(story.version))
        #expect(changed.events.map(\.name) == [.passwordSet, .signedIn])
        #expect(story.liveSessions == 1)
        #expect(try story.current().version > story.version.version)
        // The caller's former session is over.
        #expect(try story.scenario.when(story.change(story.version)) == refused(.sessionEnded))
    }

    @Test func `a change without the password wants a recent sign-in`() throws {
        var story = try Story()
        #expect(try story.scenario.when(story.change(nil)) == refused(.reauthenticationRequired))
        story.scenario.given.policy.reauthenticationSeconds = .max / 2_000_000
        #expect(try story.scenario.when(story.change(nil)).events.count == 2)
    }

    @Test func `a change with a former password is refused`() throws {
        var story = try Story()
        let old = PasswordVersion(
            identity: story.version.identity, version: story.version.version.next)
        #expect(try story.scenario.when(story.change(old)) == refused(.invalidPassword))
        let other = PasswordVersion(identity: story.next(), version: story.version.version)
        #expect(try story.scenario.when(story.change(other)) == refused(.invalidPassword))
    }

    @Test func `an account without a password changes none`() throws {
        var story = try Story()
        story.caller = try story.scenario.given.signIn(subject("google", "bob"))
        #expect(try story.scenario.when(story.change(nil)) == refused(.providerNotLinked))
    }

    @Test func `a reset ends every session and opens none`() throws {
        var story = try Story()
        let challenge = ChallengeID(bits: 9)
        let command = ResetPassword(
            story.proof(challenge: challenge), password: NewPassword(hash: "hash 3"))
        #expect(try story.scenario.when(command) == refused(.invalidCode))
        story.scenario.given.openChallenges([challenge])
        let done = try story.scenario.when(command)
        let fact = PasswordSet(
            account: story.caller.account, identity: story.version.identity, cause: .reset)
        #expect(done == then(.passwordReset([Self.password]), .passwordSet(fact)))
        #expect(story.liveSessions == 0)
        #expect(try story.scenario.when(command) == refused(.invalidCode))
    }

    @Test func `the code of a reset is void once the password was changed`() throws {
        var story = try Story()
        let challenge = ChallengeID(bits: 9)
        story.scenario.given.openChallenges([challenge])
        let command = ResetPassword(
            story.proof(password: story.version, challenge: challenge),
            password: NewPassword(hash: "hash 3"))
        _ = try story.scenario.when(story.change(story.version)).result.get()
        #expect(try story.scenario.when(command) == refused(.invalidCode))
    }

    @Test func `a merge wants the current password of the identity`() throws {
        var story = try Story()
        story.scenario.given.policy.reauthenticationSeconds = .max / 2_000_000
        let other = try story.scenario.given.signIn(subject("google", "bob"))
        func preview(_ version: PasswordVersion) throws -> Result<Reply, Refusal> {
            let credential = Credential(
                provider: Self.password, digest: Digest.zero,
                check: .success(story.proof(password: version)))
            return try story.scenario.when(
                MergeAccounts.Preview(
                    authority: .accountHolder(other, credential), keepsAbsorbed: [],
                    digest: sha256)
            ).result
        }
        let stale = PasswordVersion(
            identity: story.version.identity, version: story.version.version.next)
        #expect(try preview(stale) == .failure(.invalidPassword))
        let foreign = PasswordVersion(
            identity: IdentityID(bits: 1), version: story.version.version)
        #expect(try preview(foreign) == .failure(.invalidPassword))
        _ = try preview(story.version).get()
    }

    @Test func `too many wrong passwords are recorded once an hour, of accounts that exist`() throws
    {
        var story = try Story()
        let address = try #require(story.proof().address)
        let command = RecordThrottling(of: address.names, at: Self.password)
        let fact = SignInThrottled(
            account: story.caller.account, identity: story.version.identity,
            provider: Self.password)
        #expect(
            try story.scenario.when(command)
                == then(.throttlingRecorded, .signInThrottled(fact)))
        #expect(try story.scenario.when(command) == then(.throttlingRecorded))
        story.scenario.given.advanceClock(bySeconds: 3_601)
        #expect(try story.scenario.when(command).events.count == 1)
        let unknown = try #require(addressProof("eve@x.test", new: AddressID(bits: 1)).address)
        #expect(
            try story.scenario.when(RecordThrottling(of: unknown.names, at: Self.password))
                == refused(.accountNotFound))
        #expect(
            try story.scenario.when(RecordThrottling(of: address.names, at: provider("email")))
                == refused(.accountNotFound))
    }

    @Test func `an address without a password resets none`() throws {
        var story = try Story()
        story.scenario.given.policy.reauthenticationSeconds = .max / 2_000_000
        _ = try story.scenario.given.link(
            story.caller, .success(LedgerTestSupport.proof(subject("google", "ada"))), token: 1
        ).get()
        _ = try story.scenario.given.unlink(story.caller, "password").get()
        #expect(story.scenario.given.state.ledger.passwords.isEmpty)
        let command = ResetPassword(story.proof(), password: NewPassword(hash: "hash 3"))
        #expect(try story.scenario.when(command) == refused(.invalidCode))
    }

    @Test func `a sign-up signs in to no account that got the address in the meantime`() throws {
        var story = try Story()
        let command = story.signIn(story.proof(new: "thief"), createAccount: true)
        #expect(try story.scenario.when(command) == refused(.invalidCode))
    }

    @Test func `a password's hash is printed nowhere`() throws {
        var story = try Story()
        let proof = story.proof(new: "secret hash")
        #expect(!"\(proof.newPassword as Any)".contains("secret"))
    }
}
