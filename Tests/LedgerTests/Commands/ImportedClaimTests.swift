import Ledger
import LedgerTestSupport
import Testing

/// The import of addresses that the other system has not verified, in a tenant that confirms them later.
@Suite struct ImportedClaimTests {
    private static func command(_ story: inout ClaimStory) throws -> ImportAccount {
        let proof = story.claim()
        let address = try #require(proof.address)
        let way = ImportAccount.Way(
            RandomCommands.password, newID: story.generator.id(),
            password: NewPassword(hash: "hash 1"))
        return ImportAccount(
            externalName("ada"), identities: [],
            addresses: [ImportAccount.Address(address, ways: [way], isClaimed: true)],
            actor: .system, newAccount: story.generator.id())
    }

    @Test func `an unverified address is claimed, and its password signs in`() throws {
        var story = ClaimStory()
        let command = try Self.command(&story)
        let imported = try story.scenario.when(command)
        #expect(
            imported.events.map(\.name) == [
                .accountOpened, .accountNamed, .providerLinked, .addressClaimed, .passwordSet,
            ])
        let held = try story.address()
        #expect(held.isClaimed && held.account == command.newAccount)
        let claimed = try #require(
            story.scenario.given.log.first { $0.recorded.event.name == .addressClaimed })
        #expect(claimed.disclosed == [Disclosure(.email, ClaimStory.ada)])
        #expect(claimed.recorded.event.fact.requiredDisclosures == [.email])
        let signedIn = try story.signIn(story.known())
        #expect(try story.caller(signedIn).account == command.newAccount)
        let confirmed = try story.signIn(story.known(confirms: true))
        #expect(confirmed.events.map(\.name).contains(.addressConfirmed))
    }

    @Test func `the person who proves the address gets the account without its password`() throws {
        var story = ClaimStory()
        let command = try Self.command(&story)
        _ = try story.scenario.when(command)
        let taken = try story.signIn(story.code())
        #expect(try story.caller(taken).account == command.newAccount)
        #expect(try !story.address().isClaimed)
        #expect(story.scenario.given.state.ledger.passwords.isEmpty)
    }

    @Test func `an import claims no address that an account has or claims`() throws {
        for isClaim in [true, false] {
            var story = ClaimStory()
            _ = try story.signIn(isClaim ? story.claim() : story.code())
            let command = try Self.command(&story)
            let imported = try story.scenario.when(command)
            let success = try #require(ImportAccount.success(in: try imported.result.get()))
            #expect(success.problems.map(\.obstacle) == [.addressHeld])
            #expect(success.effect == .refused && imported.events.isEmpty)
        }
        var story = ClaimStory()
        let mallory = try story.scenario.given.signIn(subject("google", "mallory"))
        _ = try story.link(mallory, story.claim())
        try story.unlink(mallory, RandomCommands.password)
        let command = try Self.command(&story)
        let imported = try story.scenario.when(command)
        let success = try #require(ImportAccount.success(in: try imported.result.get()))
        #expect(success.problems.map(\.obstacle) == [.addressGivenUp])
    }

    @Test func `without the rule an import claims nothing`() throws {
        var story = ClaimStory()
        story.scenario.given.policy.confirmLater = false
        let command = try Self.command(&story)
        #expect(try story.scenario.when(command) == refused(.unsupportedProvider))
    }
}
