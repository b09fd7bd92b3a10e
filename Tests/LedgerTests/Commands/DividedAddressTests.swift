import Ledger
import LedgerTestSupport
import Testing

/// The undoing of a merge leaves no address with which both accounts are signed in to.
@Suite struct DividedAddressTests {
    private static let passwords = RandomCommands.password
    private static let google = provider("google")

    /// An account that was signed in to with Google and has absorbed one with an address.
    private struct Story {
        var claims = ClaimStory()
        let survivor: Caller
        let absorbed: Caller
        let merge: EventID

        init(_ proof: (inout ClaimStory) -> Proof, alsoSurvivor: Bool = false) throws {
            survivor = try claims.scenario.given.signIn(subject("google", "bob"))
            if alsoSurvivor {
                _ = try claims.link(survivor, claims.signUp("bob@x.test")).result.get()
            }
            absorbed = try claims.caller(claims.signIn(proof(&claims)))
            merge = try claims.merge(survivor, absorbed)
        }

        mutating func undo(isPreview: Bool = false) throws -> Scenario.Effects {
            try claims.scenario.when(
                UnmergeAccounts(
                    merge: merge, survivor: survivor.account, absorbed: absorbed.account,
                    actor: .system, reason: "two", caseReference: "8", isPreview: isPreview))
        }

        mutating func changeAddress() throws -> Scenario.Effects {
            let present = try #require(claims.code().address)
            return try claims.scenario.when(
                ChangeAddress(
                    SessionRenewal(
                        caller: survivor, password: nil, refreshToken: .zero,
                        newSession: claims.generator.id()),
                    from: present.names, to: claims.signUp("new@x.test"),
                    newFormer: claims.generator.id()))
        }
    }

    @Test func `a merge is not undone while the survivor has a password at a returning address`()
        throws
    {
        var story = try Story { $0.code() }
        _ = try story.claims.link(story.survivor, story.claims.claim()).result.get()
        for isPreview in [true, false] {
            #expect(
                try story.undo(isPreview: isPreview) == refused(.mergeSuperseded(.addressShared)))
        }
        try story.claims.unlink(story.survivor, Self.passwords)
        _ = try story.undo().result.get()
        #expect(
            try story.claims.caller(story.claims.signIn(story.claims.code())).account
                == story.absorbed.account)
    }

    @Test func `nor while it is signed in to with codes at the address of a password left behind`()
        throws
    {
        var story = try Story({ $0.signUp() }, alsoSurvivor: true)
        _ = try story.claims.link(story.survivor, story.claims.code()).result.get()
        #expect(try story.undo() == refused(.mergeSuperseded(.addressShared)))
        try story.claims.unlink(story.survivor, RandomCommands.email)
        _ = try story.undo().result.get()
    }

    @Test func `an account changes no address of another one, whatever an earlier release undid`()
        throws
    {
        var story = try Story { $0.code() }
        _ = try story.claims.link(story.survivor, story.claims.claim()).result.get()
        // Without the providers' types, as if no rule knew of the shared address.
        let rules = story.claims.scenario.given.policy
        story.claims.scenario.given.policy.providers = rules.providers.filter {
            $0.key != Self.passwords
        }
        _ = try story.undo().result.get()
        story.claims.scenario.given.policy = rules
        let account = try story.claims.account(story.survivor)
        #expect(account.linkedProviders == [Self.google, Self.passwords])
        #expect(try story.changeAddress() == refused(.providerNotLinked))
    }
}
