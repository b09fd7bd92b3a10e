import LedgerTestSupport
import Testing

@testable import Ledger

/// Random histories in which merges unite second factors, and two persons undo them: all folds agree.
@Suite struct MergeFactorHistoryTests {
    private static let sam = Principal(key: EntityID(bits: 77), role: .support)
    private static let kim = Principal(key: EntityID(bits: 78), role: .support)

    @Test(arguments: [3, 6])
    func `the folds agree on factors and sessions after merges and undoings`(
        subjects: Int
    ) throws {
        var (united, separated) = (0, 0)
        for seed in UInt64(20)..<50 {
            let policy = RandomCommands.policy(hasEveryType: true)
            var model = ModelLedger(policy: policy)
            var commands = RandomCommands(
                seed: seed, subjectsPerProvider: subjects, hasEveryType: true, unitesFactors: true)
            for _ in 0..<200 { commands.learn(try model.execute(commands.next())) }
            try Self.compare(model)
            // An undoing makes the merge before it the last one.
            for _ in 0..<3 { try Self.undoMerges(of: &model) }
            try Self.compare(model)
            for event in model.events {
                switch event {
                case .accountsMerged(let fact) where !fact.factors.isEmpty: united += 1
                case .accountsUnmerged(let fact) where !fact.factors.isEmpty: separated += 1
                default: break
                }
            }
        }
        #expect(united > 20 && separated > 10, "the histories mean too little")
    }

    /// Undoes the last merge of each account, where that is possible.
    private static func undoMerges(of model: inout ModelLedger) throws {
        let merges = model.state.ledger.accounts.values.compactMap(\.merges.last)
        for merge in merges.sorted(by: { $0.position < $1.position }) {
            func undo(
                by principal: Principal, _ step: TwoPersonStep
            ) throws -> Result<Reply, Refusal> {
                try model.execute(
                    .unmergeAccounts(
                        UnmergeAccounts(
                            merge: merge.id, survivor: merge.survivor, absorbed: merge.absorbed,
                            actor: .principal(principal), reason: "two people",
                            caseReference: "8", isPreview: false, step: step)))
            }
            guard case .success(.unmergeAsked(let digest)) = try undo(by: sam, .ask(sha256))
            else { continue }
            let request = TwoPersonStep.Request(asker: sam, digest: digest)
            _ = try undo(by: kim, .confirm(request, sha256)).get()
        }
    }

    private static func compare(_ model: ModelLedger) throws {
        let ledger = model.state.ledger
        var compact = CompactState(tenant: .default)
        var accounts: [AccountID: ReplayedAccount] = [:]
        for recording in model.log {
            let (recorded, leaf) = (recording.recorded, recording.leaf)
            try compact.apply(recorded, leaf: leaf)
            for reference in recorded.accounts {
                try accounts[
                    reference.id, default: ReplayedAccount(reference.id, in: .default)
                ].apply(recorded, leaf: leaf)
            }
        }
        var held: [FactorID: HeldFactor] = [:]
        compact.eachFactor { held[$0.id] = $0 }
        #expect(held == ledger.factors)
        for (id, account) in ledger.accounts where account.erasedPosition == nil {
            #expect(compact.secondFactors(of: id) == account.secondFactors)
            #expect(accounts[id]?.secondFactors == account.secondFactors)
            let live = Set(accounts[id]?.sessions.map(\.id) ?? [])
            #expect(live == ledger.liveSessions[id] ?? [])
        }
    }
}
