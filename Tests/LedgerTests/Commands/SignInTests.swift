import Ledger
import LedgerTestSupport
import Testing

struct SignInTests {
    private static let early = Timestamp(seconds: 1_000_000_000)
    private static let pin = AuthenticationMethods("pin")

    /// Returns a sign-in whose new ids are a number.
    private func signIn(
        _ name: String, _ number: UInt8, creates: Bool = true,
        methods: AuthenticationMethods = .federated, singleUse: SingleUseIDToken? = nil,
        authenticatedAt: Timestamp = early
    ) -> SignIn {
        SignIn(
            Proof(
                subject("apple", name), authenticatedAt: authenticatedAt, methods: methods,
                email: nil, singleUse: singleUse),
            createAccount: creates, refreshToken: digest(Array(repeating: number, count: 32)),
            newAccount: AccountID(bits: UInt128(number)),
            newIdentity: IdentityID(bits: UInt128(number)),
            newSession: SessionID(bits: UInt128(number)))
    }

    private func signedIn(_ command: SignIn, to first: SignIn) -> Event {
        .signedIn(
            SignedIn(
                account: first.newAccount, authenticatedAt: command.proof.authenticatedAt,
                identity: first.newIdentity, methods: command.proof.methods,
                provider: provider("apple"), session: command.newSession))
    }

    private func opened(_ command: SignIn, in first: SignIn, _ scenario: Scenario) -> Reply {
        .signedIn(
            Grant(
                account: first.newAccount, session: command.newSession,
                authenticatedAt: command.proof.authenticatedAt, methods: command.proof.methods,
                linkedProviders: [provider("apple")],
                openedAt: scenario.given.log.last?.recorded.recordedAt),
            isNewUser: command.newAccount == first.newAccount)
    }

    @Test func `an unknown subject gets an account, a link and a session`() throws {
        var scenario = Scenario()
        let first = signIn("ada", 1)
        let effects = try scenario.when(first)
        #expect(
            effects
                == then(
                    opened(first, in: first, scenario),
                    .accountOpened(AccountOpened(account: first.newAccount)),
                    .providerLinked(
                        ProviderLinked(
                            account: first.newAccount, identity: first.newIdentity,
                            provider: provider("apple"), cause: .signUp)),
                    signedIn(first, to: first)))
    }

    @Test func `a sign-in from a new device says so in its entry, a sign-up does not`() throws {
        var scenario = Scenario()
        for (number, device) in [(UInt8(1), SignedIn.Device?.none), (2, .new)] {
            let plain = signIn("ada", number)
            let command = SignIn(
                plain.proof, isNewDevice: true, createAccount: true,
                refreshToken: plain.refreshToken, newAccount: plain.newAccount,
                newIdentity: plain.newIdentity, newSession: plain.newSession)
            _ = try scenario.when(command).result.get()
            let entry = try #require(scenario.given.log.last?.entry)
            guard case .signedIn(let fact) = try EntryEncoding.decode(entry).event else {
                Issue.record("another event")
                return
            }
            #expect(fact.device == device)
            let text = String(decoding: entry, as: UTF8.self)
            #expect(text.contains(#""device":"new""#) == (device != nil))
        }
    }

    @Test func `a known subject gets a session, by the methods of its proof`() throws {
        var scenario = Scenario()
        let first = signIn("ada", 1)
        _ = try scenario.when(first)
        let later = signIn("ada", 2, creates: false, methods: try #require(Self.pin))
        let effects = try scenario.when(later)
        #expect(
            effects
                == then(opened(later, in: first, scenario), signedIn(later, to: first)))
    }

    @Test func `an authentication time in the future is recorded as the present`() throws {
        var scenario = Scenario()
        let command = signIn("ada", 1, authenticatedAt: Timestamp(seconds: 1_000_000_000_000))
        let effects = try scenario.when(command)
        guard case .success(.signedIn(let grant, _)) = effects.result,
            case .signedIn(let fact) = effects.events.last
        else {
            Issue.record("no session")
            return
        }
        // Times of authentication are whole seconds.
        let now = try #require(scenario.given.log.first?.recorded.recordedAt)
        #expect(fact.authenticatedAt == Timestamp(seconds: now.seconds))
        #expect(grant.authenticatedAt == fact.authenticatedAt)
    }

    @Test func `a sign-in is refused without a provider or without an account to open`() throws {
        var scenario = Scenario {
            $0.providers = TenantPolicy(providers: [provider("google")]).providers
        }
        #expect(try scenario.when(signIn("ada", 1)) == refused(.unsupportedProvider))
        scenario = Scenario()
        #expect(
            try scenario.when(signIn("ada", 1, creates: false)) == refused(.accountNotFound))
    }

    @Test func `a single-use token opens sessions for a minute after its first`() throws {
        var scenario = Scenario()
        let token = SingleUseIDToken(
            digest: digest(Array(repeating: 9, count: 32)),
            expiresAt: Timestamp(seconds: 1_000_000_000_000))
        let first = signIn("ada", 1, singleUse: token)
        _ = try scenario.when(first)
        scenario.given.advanceClock(bySeconds: 59)
        let retry = signIn("ada", 2, singleUse: token)
        let retryEffects = try scenario.when(retry)
        #expect(
            retryEffects
                == then(opened(retry, in: first, scenario), signedIn(retry, to: first)))
        scenario.given.advanceClock(bySeconds: 1)
        #expect(
            try scenario.when(signIn("ada", 3, singleUse: token)) == refused(.invalidProviderToken))
        let other = signIn("ada", 4)
        let otherEffects = try scenario.when(other)
        #expect(
            otherEffects
                == then(opened(other, in: first, scenario), signedIn(other, to: first)))
    }
}
