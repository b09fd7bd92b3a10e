import Ledger
import LedgerTestSupport
import Testing

/// The import of accounts of another system.
@Suite struct ImportAccountTests {
    private static let password = provider("password")
    private static let email = provider("email")

    private struct Story {
        var scenario = Scenario {
            $0.providers[ImportAccountTests.password] = ProviderPin(type: .password, issuers: [])
            $0.providers[ImportAccountTests.email] = ProviderPin(type: .email, issuers: [])
        }
        private var last: UInt128 = 100

        mutating func next<Kind>() -> EntityID<Kind> {
            last += 1
            return EntityID(bits: last)
        }

        mutating func command(
            _ id: String, _ subjects: [Subject] = [], address: String? = nil,
            ways: [(ProviderName, String?)] = [(ImportAccountTests.password, "hash")],
            isPreview: Bool = false
        ) -> ImportAccount {
            let identities = subjects.map {
                ImportAccount.Identity(
                    $0, email: Email("x@x.test", isVerified: false), newID: next())
            }
            var addresses: [ImportAccount.Address] = []
            if let address, let proved = addressProof(address, new: next()).address {
                addresses.append(
                    ImportAccount.Address(
                        proved,
                        ways: ways.map {
                            ImportAccount.Way(
                                $0.0, newID: next(), password: $0.1.map { NewPassword(hash: $0) })
                        }))
            }
            return ImportAccount(
                externalName(id), identities: identities, addresses: addresses, actor: .system,
                newAccount: next(), isPreview: isPreview)
        }

        mutating func merge(_ absorbed: AccountID, into survivor: AccountID) throws {
            func command(_ agreed: Digest?) -> Command.Intent {
                .mergeAccounts(
                    MergeAccounts(
                        authority: .support(
                            .system,
                            MergeAccounts.Case(
                                survivor: survivor, absorbed: absorbed, reason: "one person",
                                reference: "7")),
                        keepsAbsorbed: [], agreed: agreed, digest: sha256))
            }
            guard case .mergePlanned(_, let plan) = try scenario.when(command(nil)).result.get()
            else { return }
            _ = try scenario.when(command(plan)).result.get()
        }

        mutating func importing(
            _ command: ImportAccount
        ) throws -> (success: ImportAccount.Success, events: [Event.Name]) {
            let outcome = try scenario.when(command)
            let success = try #require(ImportAccount.success(in: try outcome.result.get()))
            return (success, outcome.events.map(\.name))
        }
    }

    @Test func `an account comes with its id, its identities, its address and its password`()
        throws
    {
        var story = Story()
        let command = story.command("ada", [subject("google", "ada")], address: "ada@x.test")
        let (success, events) = try story.importing(command)
        #expect(success.effect == .opened && success.problems == [])
        #expect([success.identities, success.addresses, success.passwords] == [2, 1, 1])
        #expect(
            events == [
                .accountOpened, .accountNamed, .providerLinked, .providerLinked,
                .addressConfirmed, .passwordSet,
            ])
        let ledger = story.scenario.given.state.ledger
        let ada = try #require(ledger.accounts[command.newAccount])
        #expect(ada.linkedProviders == [provider("google"), Self.password])
        #expect(ledger.names.values.map(\.account) == [command.newAccount])
        #expect(
            story.scenario.given.log.last { $0.recorded.event.name == .accountNamed }?.disclosed
                == [Disclosure(.externalID, "ada")])
    }

    @Test func `a repeated import keeps the account as it is, whatever it brings`() throws {
        var story = Story()
        let first = story.command("ada", [subject("google", "ada")])
        _ = try story.importing(first)
        let again = try story.importing(
            story.command("ada", [subject("google", "other")], address: "ada@x.test"))
        #expect(again.success.effect == .kept && again.events == [])
        let position = try #require(story.scenario.given.state.ledger.names.keys.first)
        let repeated = story.command("ada")
        #expect(
            try story.scenario.when(repeated)
                == then(
                    .accountImported(
                        .init(.kept, position: position, account: again.success.account))))
        #expect(again.success.account == first.newAccount)
    }

    @Test func `a preview decides the same and changes nothing`() throws {
        var story = Story()
        let preview = story.command("ada", [subject("google", "ada")], isPreview: true)
        let (success, events) = try story.importing(preview)
        #expect(success.effect == .opened && success.identities == 1 && events == [])
    }

    @Test func `a preview is decided again as if another account had a part`() throws {
        var story = Story()
        let eve = AccountID(bits: 9)
        let preview = story.command(
            "ada", [subject("google", "a"), subject("google", "b")], address: "ada@x.test",
            isPreview: true)
        let (success, _) = try story.importing(preview)
        #expect(success.problems.map(\.obstacle) == [.providerTaken])
        var standings = try #require(success.standings)
        #expect(standings.identities == [.free, .free] && standings.addresses == [.free])
        let policy = story.scenario.given.policy
        #expect(preview.preview(of: standings, under: policy).success == success)
        standings.identities[0] = .held(by: eve)
        // The account now gets its second identity of the provider.
        let other = preview.preview(of: standings, under: policy)
        #expect(other.success.problems.map(\.obstacle) == [.identityHeld])
        #expect(other.success.problems.map(\.holder) == [eve])
        #expect(other.subjects.contains(subject("google", "b")))
        #expect(!other.subjects.contains(subject("google", "a")))
        #expect(other.addresses.map(\.text) == ["ada@x.test"])
        standings.identities = [.givenUp, .held(by: eve)]
        standings.addresses = [.held(by: eve)]
        let none = preview.preview(of: standings, under: policy)
        #expect(none.success.effect == .refused && none.subjects.isEmpty)
        #expect(none.addresses.isEmpty)
    }

    @Test func `an identity of another account is left out, and never merges`() throws {
        var story = Story()
        let bob = try story.scenario.given.signIn(subject("google", "bob")).account
        let both = try story.importing(
            story.command("bob", [subject("google", "bob"), subject("apple", "bob")]))
        #expect(both.success.effect == .opened && both.success.identities == 1)
        #expect(both.success.problems.map(\.obstacle) == [.identityHeld])
        #expect(both.success.problems.map(\.holder) == [bob])
        let alone = try story.importing(story.command("eve", [subject("google", "bob")]))
        #expect(alone.success.effect == .refused && alone.events == [])
    }

    @Test func `an identity that its account unlinked comes back by no import`() throws {
        var story = Story()
        story.scenario.given.policy.reauthenticationSeconds = .max / 2_000_000
        let ada = try story.scenario.given.signIn(subject("apple", "ada"))
        _ = try story.scenario.given.link(ada, .success(proof(subject("google", "ada"))), token: 1)
        _ = try story.scenario.given.unlink(ada, "google").get()
        let (success, events) = try story.importing(
            story.command("ada", [subject("google", "ada")]))
        #expect(success.problems.map(\.obstacle) == [.identityGivenUp] && events == [])
    }

    @Test func `an address of another account, or a former one, is left out`() throws {
        var story = Story()
        _ = try story.importing(story.command("ada", address: "ada@x.test"))
        let held = try story.importing(
            story.command("eve", [subject("google", "eve")], address: "ada@x.test"))
        #expect(held.success.problems.map(\.obstacle) == [.addressHeld])
        #expect(held.success.effect == .opened && held.success.addresses == 0)
        let third = try story.importing(story.command("zoe", address: "ada@x.test"))
        #expect(third.success.effect == .refused)
        #expect(third.success.problems.map(\.holder) == held.success.problems.map(\.holder))
        let state = story.scenario.given.state
        #expect(state.ledger.addresses.count == 1 && state.addressNames.map(\.value).count == 1)
    }

    @Test func `an address has two ways, and one account has each of them once`() throws {
        var story = Story()
        let ways = [(Self.password, "hash" as String?), (Self.email, nil), (Self.email, nil)]
        let (success, events) = try story.importing(
            story.command("ada", address: "ada@x.test", ways: ways))
        #expect([success.identities, success.addresses, success.passwords] == [2, 1, 1])
        #expect(success.problems.map(\.obstacle) == [.providerTaken])
        #expect(events.filter { $0 == .addressConfirmed }.count == 1)
    }

    @Test func `two subjects of a provider need the tenant's rule`() throws {
        let subjects = [subject("google", "a"), subject("google", "b"), subject("google", "a")]
        var one = Story()
        #expect(try one.importing(one.command("ada", subjects)).success.identities == 1)
        var several = Story()
        several.scenario.given.policy.severalPerProvider = true
        let (success, _) = try several.importing(several.command("ada", subjects))
        #expect(success.identities == 2)
        #expect(success.problems.map(\.obstacle) == [.providerTaken])
    }

    @Test func `providers of other types, and a password provider without a password, are no ways`()
        throws
    {
        var story = Story()
        let subjects = [subject("password", "x"), subject("nowhere", "x")]
        let wrong = story.command(
            "ada", subjects, address: "ada@x.test",
            ways: [(Self.password, nil), (Self.email, "hash")])
        #expect(try story.scenario.when(wrong) == refused(.unsupportedProvider))
        let google = story.command("ada", subjects + [subject("google", "ada")])
        let (success, _) = try story.importing(google)
        #expect(success.problems.map(\.obstacle) == [.unsupportedProvider, .unsupportedProvider])
    }

    @Test func `a name follows merges and their undoing, and an erasure forgets it`() throws {
        var story = Story()
        let ada = story.command("ada", [subject("google", "ada")])
        let bob = story.command("bob", [subject("apple", "bob")])
        _ = try story.importing(ada)
        _ = try story.importing(bob)
        try story.merge(bob.newAccount, into: ada.newAccount)
        #expect(story.scenario.given.state.ledger.names.count == 2)
        let again = try story.importing(story.command("bob", [subject("apple", "bob")]))
        #expect(again.success.effect == .kept)
        let erase = EraseAccount(account: ada.newAccount, basis: .operator, actor: .system)
        _ = try story.scenario.when(erase).result.get()
        #expect(story.scenario.given.state.ledger.names.isEmpty)
        #expect(story.scenario.given.state.names.isEmpty)
        let anew = try story.importing(story.command("bob", [subject("apple", "bob")]))
        #expect(anew.success.effect == .opened)
    }

    @Test func `a tenant without the account's providers refuses it`() throws {
        var story = Story()
        let command = story.command("ada", address: "ada@x.test")
        story.scenario.given.policy.providers = [:]
        #expect(try story.scenario.when(command) == refused(.unsupportedProvider))
        #expect(try story.scenario.when(story.command("eve")) == refused(.unsupportedProvider))
    }
}
