import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// A merge, its reversal and another merge of the same accounts in one batch.
///
/// Unlinked rows make room for the new ones.
@Suite struct MergeBatchTests {
    @Test(arguments: [0, 1, 2, 3, 4, 5, 6])
    func `whatever a batch begins and ends with, its tables match its events`(
        steps: Int
    ) async throws {
        try await MergeFixture.with { fixture in
            // Odd numbers begin with merged accounts.
            let former = steps % 2 == 1 ? try await fixture.merge() : nil
            let commands = (steps + 1) / 2 + 1
            let store = PostgresBatchStore(
                url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring,
                signInWindowSeconds: { _ in 3600 })
            let decider = BatchDecider(
                policy: { _ in SequencerFixture.unlimitedPolicy }, random: { randomBytes($0) })
            let first = fixture.undoing(of: former ?? EventID(bits: 1))
            let keys = BatchKeys([first])
            let outcome = try await store.transact(keys) { loaded, _ throws(BatchFault) in
                var active = former
                var outcome = try decider.decide([], in: loaded)
                for _ in 0..<commands {
                    if let merge = active {
                        outcome = try decider.decide([fixture.undoing(of: merge)], in: loaded)
                        active = nil
                    } else {
                        let planned = try decider.decide([fixture.merging(agreed: nil)], in: loaded)
                        guard
                            case .success(.success(.mergePlanned(_, let digest))) =
                                planned.answers.first
                        else { throw .damaged("no plan") }
                        outcome = try decider.decide(
                            [fixture.merging(agreed: digest)], in: loaded)
                        guard
                            case .success(.success(.merged(_, let event?))) =
                                outcome.answers.first
                        else { throw .damaged("no merge") }
                        active = event
                    }
                }
                return outcome
            }
            await store.close()
            let names = outcome.recordings.flatMap(\.recordings).map(\.recorded.event.name)
            #expect(names.count == commands)
            let isMerged = names.last == .accountsMerged
            let rows = try await fixture.database.rows("absorbed_id::text]) FROM merges")
            #expect(rows == (isMerged ? ["\(fixture.bob.account)"] : []))
            let merged = try await fixture.database.rows(
                "account_id::text, merged_into::text]) FROM accounts WHERE merged_into IS NOT NULL")
            #expect(
                merged == (isMerged ? ["\(fixture.bob.account)|\(fixture.ada.account)"] : []))
            try await fixture.check()
        }
    }
}

extension MergeFixture {
    fileprivate func merging(agreed: Digest?) -> Command {
        command(
            .mergeAccounts(
                Self.intent(bob.account, into: ada.account, keeping: [], agreed: agreed)))
    }

    fileprivate func undoing(of merge: EventID) -> Command {
        command(
            .unmergeAccounts(
                UnmergeAccounts(
                    merge: merge, survivor: ada.account, absorbed: bob.account, actor: .system,
                    reason: "two people", caseReference: "case 8", isPreview: false)))
    }

    private func command(_ intent: Command.Intent) -> Command {
        Command(
            id: CommandID(bits: .random(in: 1...(.max))), tenant: .default,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil), intent: intent)
    }
}

private func randomBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255) }
}
