import Ledger
import LedgerTestSupport
import Testing

/// The import of passwords of another system.
@Suite struct ImportPasswordTests {
    private static let password = provider("password")
    private static let google = provider("google")

    private struct Story {
        var scenario = Scenario {
            $0.providers[ImportPasswordTests.password] = ProviderPin(type: .password, issuers: [])
            $0.providers[provider("email")] = ProviderPin(type: .email, issuers: [])
        }
        private var last: UInt128 = 100

        mutating func next<Kind>() -> EntityID<Kind> {
            last += 1
            return EntityID(bits: last)
        }

        mutating func command(_ text: String, holder: Subject? = nil) -> ImportPassword {
            let address = addressProof(text, new: next())
            let proof = Proof(
                subject("password", address.subject.providerID),
                authenticatedAt: Timestamp(seconds: 1_000_000_000), methods: .password,
                email: address.email, address: address.address,
                newPassword: NewPassword(hash: "hash"))
            return ImportPassword(
                proof, holder: holder, actor: .system, newAccount: next(), newIdentity: next())
        }

        /// Submits an import and returns the account and the effect.
        mutating func importing(
            _ text: String, holder: Subject? = nil
        ) throws -> (account: AccountID, effect: ImportPassword.Effect, events: [Event.Name]) {
            let outcome = try scenario.when(command(text, holder: holder))
            let success = try #require(ImportPassword.success(in: try outcome.result.get()))
            return (success.account, success.effect, outcome.events.map(\.name))
        }

        /// Signs in with the address by its other type and returns the account.
        mutating func signIn(_ proof: Proof, createAccount: Bool = false) throws -> AccountID {
            let command = SignIn(
                proof, createAccount: createAccount, refreshToken: .zero, newAccount: next(),
                newIdentity: next(), newSession: next())
            let reply = try scenario.when(command).result.get()
            return try #require(SignIn.success(in: reply)).grant.account
        }
    }

    @Test func `an address without an account opens one, and a second import keeps it`() throws {
        var story = Story()
        let first = try story.importing("ada@x.test")
        #expect(first.effect == .opened)
        #expect(
            first.events == [.accountOpened, .providerLinked, .addressConfirmed, .passwordSet])
        let ada = try #require(story.scenario.given.state.ledger.accounts[first.account])
        #expect(ada.linkedProviders == [Self.password])
        let again = story.command("ada@x.test")
        #expect(
            try story.scenario.when(again) == then(.passwordImported(first.account, .kept)))
    }

    @Test func `a disabled account gets no password, and keeps one that it has`() throws {
        var story = Story()
        let ada = try story.importing("ada@x.test").account
        let bob = try story.scenario.given.signIn(subject("google", "bob")).account
        for account in [ada, bob] {
            _ = try story.scenario.when(
                ChangeAccess(
                    .disable, of: account, actor: .system, reason: "r", caseReference: "c"))
        }
        #expect(try story.importing("ada@x.test").effect == .kept)
        let command = story.command("bob@x.test", holder: subject("google", "bob"))
        #expect(try story.scenario.when(command) == refused(.accountDisabled))
    }

    @Test func `an imported password signs in`() throws {
        var story = Story()
        let ada = try story.importing("ada@x.test").account
        let (identity, version) = try #require(
            story.scenario.given.state.ledger.passwords.first)
        let address = addressProof("ada@x.test", new: story.next())
        let proof = Proof(
            subject("password", address.subject.providerID),
            authenticatedAt: Timestamp(seconds: 1_000_000_000), methods: .password,
            email: address.email, address: address.address,
            password: PasswordVersion(identity: identity, version: version))
        #expect(try story.signIn(proof) == ada)
    }

    @Test func `the account that has the address gets the password`() throws {
        var story = Story()
        let address = addressProof("ada@x.test", new: story.next())
        let ada = try story.signIn(address, createAccount: true)
        let imported = try story.importing("ada@x.test")
        #expect(imported.account == ada && imported.effect == .added)
        #expect(imported.events == [.providerLinked, .passwordSet])
    }

    @Test func `the account of an identity gets address and password`() throws {
        var story = Story()
        let ada = try story.signIn(proof(subject("google", "ada")), createAccount: true)
        let imported = try story.importing("ada@x.test", holder: subject("google", "ada"))
        #expect(imported.account == ada && imported.effect == .added)
        #expect(imported.events == [.providerLinked, .addressConfirmed, .passwordSet])
    }

    @Test func `an identity without an account, and an address of another one, are refused`() throws
    {
        var story = Story()
        let unknown = story.command("ada@x.test", holder: subject("google", "ada"))
        #expect(try story.scenario.when(unknown) == refused(.accountNotFound))
        _ = try story.signIn(proof(subject("google", "ada")), createAccount: true)
        _ = try story.importing("bob@x.test")
        let other = story.command("bob@x.test", holder: subject("google", "ada"))
        #expect(try story.scenario.when(other) == refused(.providerConflict(.heldByOther)))
    }

    @Test func `a repeated import brings no password back that was unlinked`() throws {
        var story = Story()
        story.scenario.given.policy.reauthenticationSeconds = .max / 2_000_000
        let ada = try story.signIn(proof(subject("google", "ada")), createAccount: true)
        _ = try story.importing("ada@x.test", holder: subject("google", "ada"))
        let session = try #require(story.scenario.given.state.ledger.sessions.first?.key)
        let unlink = UnlinkProvider(
            caller: Caller(account: ada, session: session), provider: Self.password,
            identity: nil, idempotency: nil)
        _ = try story.scenario.when(unlink).result.get()
        for holder in [nil, subject("google", "ada")] {
            let again = try story.importing("ada@x.test", holder: holder)
            #expect(again.account == ada && again.effect == .kept && again.events == [])
        }
        // A sign-up with the address by its other type keeps it in use.
        _ = try story.signIn(addressProof("eve@x.test", new: story.next()), createAccount: true)
        #expect(try story.importing("eve@x.test").effect == .added)
    }

    @Test func `a tenant without passwords imports none`() throws {
        var story = Story()
        let command = story.command("ada@x.test")
        story.scenario.given.policy.providers[Self.password] = nil
        #expect(try story.scenario.when(command) == refused(.unsupportedProvider))
    }

    @Test func `the erasure of an imported account forgets its address and password`() throws {
        var story = Story()
        let ada = try story.importing("ada@x.test").account
        let erase = EraseAccount(account: ada, basis: .operator, actor: .system)
        _ = try story.scenario.when(erase).result.get()
        #expect(story.scenario.given.state.ledger.passwords.isEmpty)
        #expect(story.scenario.given.state.ledger.addresses.isEmpty)
        let again = try story.importing("ada@x.test")
        #expect(again.effect == .opened && again.account != ada)
    }
}
