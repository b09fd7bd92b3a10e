import Ledger
import LedgerTestSupport
import Testing

/// Merges by support and their undoing: the replies and the appended events.
@Suite struct MergeScenarioTests {
    private static let support = Actor.apiKey(Principal(key: APIKeyID(bits: 9), role: .support))

    private static func merge(
        _ absorbed: AccountID, into survivor: AccountID, agreed: Digest
    ) -> MergeAccounts {
        MergeAccounts(
            authority: .support(
                support,
                MergeAccounts.Case(
                    survivor: survivor, absorbed: absorbed, reason: "one person", reference: "7")),
            keepsAbsorbed: [], agreed: agreed, digest: sha256)
    }

    private static func undo(
        _ merge: EventID, _ absorbed: AccountID, from survivor: AccountID
    ) -> UnmergeAccounts {
        UnmergeAccounts(
            merge: merge, survivor: survivor, absorbed: absorbed, actor: support,
            reason: "two people", caseReference: "8", isPreview: false)
    }

    @Test func `accounts are merged as planned, and separated again`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada")).account
        let other = try scenario.given.signIn(subject("google", "ada")).account
        let survivor = try #require(scenario.given.account(ada))
        let absorbed = try #require(scenario.given.account(other))
        let preview = MergeAccounts.Preview(
            authority: Self.merge(other, into: ada, agreed: .zero).authority, keepsAbsorbed: [],
            digest: sha256)
        let planned = try scenario.when(preview)
        #expect(planned.events.isEmpty)
        let shown = try #require(MergeAccounts.Preview.success(in: try planned.result.get()))
        let (plan, agreed) = (shown.plan, shown.digest)

        #expect(
            try scenario.when(Self.merge(other, into: ada, agreed: .zero))
                == refused(.mergePlanChanged))
        let merged = try scenario.when(Self.merge(other, into: ada, agreed: agreed))
        let event = try #require(scenario.given.log.last?.recorded.id)
        let both = survivor.links + absorbed.links
        #expect(
            merged
                == then(
                    .merged(plan, event),
                    .accountsMerged(
                        AccountsMerged(
                            survivor: ada, absorbed: other, cause: .support, moved: absorbed.links,
                            dropped: [], replaced: [], links: both, plan: agreed))))
        #expect(
            try scenario.when(Self.merge(other, into: ada, agreed: agreed))
                == refused(.accountMerged(into: ada)))

        let undone = try scenario.when(Self.undo(event, other, from: ada))
        let undoing = try #require(scenario.given.log.last?.recorded.id)
        guard case .success(.unmerged(let reverse, undoing)) = undone.result else {
            Issue.record("another result: \(undone.result)")
            return
        }
        #expect(reverse.returned == absorbed.links)
        #expect(
            undone.events == [
                .accountsUnmerged(
                    AccountsUnmerged(
                        survivor: ada, absorbed: other, merge: event, returned: absorbed.links,
                        restored: [], links: survivor.links))
            ])
        #expect(
            try scenario.when(Self.undo(event, other, from: ada))
                == refused(.mergeSuperseded(.notActive)))
    }

    @Test func `an unknown account is neither merged nor separated`() throws {
        var scenario = Scenario()
        let ada = try scenario.given.signIn(subject("apple", "ada")).account
        let unknown = AccountID(bits: 1)
        #expect(
            try scenario.when(Self.merge(unknown, into: ada, agreed: .zero))
                == refused(.unknownAccount))
        #expect(
            try scenario.when(Self.undo(EventID(bits: 1), unknown, from: ada))
                == refused(.unknownMerge))
    }
}
