import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// Proofs are unchanged by an erasure.
@Suite struct ErasureProofTests {
    @Test func `every proof and every checkpoint is the same before and after`() async throws {
        try await ErasureFixture.with { fixture in
            try await SealingFixture.with(fixture.database) { sealing in
                try await sealing.sealOnce()
                let before = try await proofs(sealing)
                let checkpoints = try await sealing.checkpoints()
                #expect(before.count > 12)
                var story = fixture.story
                try await story.erase(fixture.ada.account)
                try await fixture.settle()
                let round = try await sealing.sealOnce()
                #expect(round.refusals.isEmpty && round.publishedCount == 1)
                #expect(try await proofs(sealing, size: Int64(before.count)) == before)
                #expect(try await sealing.checkpoints().prefix(1) == checkpoints[...])
                let reads = sealing.reads()
                _ = try await reads.consistency(
                    from: Int64(before.count), to: Int64(before.count) + 1, in: .default
                ).get()
                await reads.close()
                #expect(try await sealing.audit() == nil)
                #expect(
                    try sealing.record.erasures(of: .default).map(\.account)
                        == [fixture.ada.account])
            }
        }
    }

    private func proofs(
        _ sealing: SealingFixture, size: Int64? = nil
    ) async throws -> [ProvedInclusion] {
        let reads = sealing.reads()
        var proofs: [ProvedInclusion] = []
        let latest = try await reads.latestCheckpoint(of: .default)
        let size = size ?? latest?.size ?? 0
        for position in 0..<size {
            proofs.append(
                try await reads.inclusion(
                    of: LogPosition(position), in: .default, size: size
                ).get())
        }
        await reads.close()
        return proofs
    }
}
