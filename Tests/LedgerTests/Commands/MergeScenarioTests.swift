import Ledger
import LedgerTestSupport
import Testing

/// Merges and their undoing: given, when, then.
@Suite struct MergeScenarioTests {
    /// Ada with Apple and Bob with Facebook, whom Ada proves to be.
    private struct Story {
        var scenario = Scenario()
        let ada: Caller
        let bob: Caller
        let links: (ada: [Account.Link], bob: [Account.Link])
        let planned: MergeAccounts.Preview.Success

        init() throws {
            ada = try scenario.given.signIn(subject("apple", "ada"))
            bob = try scenario.given.signIn(subject("facebook", "bob"))
            links = (
                ada: scenario.given.account(ada.account)?.links ?? [],
                bob: scenario.given.account(bob.account)?.links ?? []
            )
            let preview = MergeAccounts.Preview(
                authority: Self.authority(ada), keepsAbsorbed: [], digest: sha256)
            let reply = try scenario.when(preview).result.get()
            planned = try #require(MergeAccounts.Preview.success(in: reply))
        }

        private static func authority(_ caller: Caller) -> MergeAccounts.Authority {
            .accountHolder(caller, Credential(subject("facebook", "bob"), digest: .zero))
        }

        mutating func merge(agreed: Digest) throws -> Scenario.Effects {
            try scenario.when(
                MergeAccounts(
                    authority: Self.authority(ada), keepsAbsorbed: [], agreed: agreed,
                    digest: sha256))
        }

        func undo(_ merge: EventID, isPreview: Bool = false) -> UnmergeAccounts {
            UnmergeAccounts(
                merge: merge, survivor: ada.account, absorbed: bob.account, actor: .system,
                reason: "two people", caseReference: "8", isPreview: isPreview)
        }

        /// The id of the last event.
        func last() throws -> EventID { try #require(scenario.given.log.last).recorded.id }
    }

    @Test func `a merge is executed as planned`() throws {
        var story = try Story()
        let merged = try story.merge(agreed: story.planned.digest)
        let event = try story.last()
        #expect(
            merged
                == then(
                    .merged(story.planned.plan, event),
                    .accountsMerged(
                        AccountsMerged(
                            survivor: story.ada.account, absorbed: story.bob.account,
                            cause: .accountHolder, moved: story.links.bob, dropped: [],
                            replaced: [], links: story.links.ada + story.links.bob,
                            plan: story.planned.digest))))
    }

    @Test func `a merge with another plan than the agreed one is refused`() throws {
        var story = try Story()
        #expect(try story.merge(agreed: .zero) == refused(.mergePlanChanged))
    }

    @Test func `a merge is undone as planned, and once only`() throws {
        var story = try Story()
        _ = try story.merge(agreed: story.planned.digest).result.get()
        let merge = try story.last()
        let preview = try story.scenario.when(story.undo(merge, isPreview: true))
        let planned = try #require(UnmergeAccounts.Preview.success(in: try preview.result.get()))
        let plan = planned.plan
        #expect(preview == then(.unmergePlanned(plan, needsTwo: false)))
        let undone = try story.scenario.when(story.undo(merge))
        let event = try story.last()
        #expect(
            undone
                == then(
                    .unmerged(plan, event),
                    .accountsUnmerged(
                        AccountsUnmerged(
                            survivor: story.ada.account, absorbed: story.bob.account,
                            merge: merge, returned: story.links.bob, restored: [],
                            links: story.links.ada))))
        #expect(
            try story.scenario.when(story.undo(merge)) == refused(.mergeSuperseded(.notActive)))
    }
}
