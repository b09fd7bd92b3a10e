import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Testing
import TransparencyLog

@testable import LedgerPostgres

@Suite struct LogSealingTests {
    /// Signs people in and seals, several times over, in pages of three.
    private func history(
        _ fixture: SealingFixture, _ ledger: SequencerFixture, rounds: Int = 4
    ) async throws {
        var story = Story(ledger.sequencer)
        for round in 0..<rounds {
            try await story.people((round * 10)..<(round * 10 + round * 3 + 1))
            try await fixture.sealOnce(pageMax: 3)
        }
    }

    @Test func `every event is hashed as it is stored, and the signatures cover all of them`()
        async throws
    {
        try await SealingFixture.with { fixture, ledger in
            try await history(fixture, ledger)
            var tree = CompactRange()
            var hashes: [TreeHash] = []
            var roots: [Int64: TreeHash] = [:]
            for entry in try await fixture.entries() {
                tree.append(TreeHash.leaf(entry), completing: &hashes)
                roots[tree.size] = tree.root
            }
            let store = fixture.store()
            let stored = try await store.hashes(of: .default, at: Array(0..<Int64(hashes.count)))
            #expect(stored == hashes)
            #expect(try await store.logState(of: .default).hashCount == Int64(hashes.count))
            await store.close()

            let checkpoints = try await fixture.checkpoints()
            #expect(checkpoints.count == 4)
            #expect(checkpoints.last?.size == tree.size)
            for checkpoint in checkpoints {
                #expect(checkpoint.origin == SealingFixture.origin)
                #expect(roots[checkpoint.size].map { Digest($0) } == checkpoint.root)
            }
            #expect(try await fixture.audit() == nil)
        }
    }

    @Test func `every proof against every signed size verifies, with the published key`()
        async throws
    {
        try await SealingFixture.with { fixture, ledger in
            try await history(fixture, ledger)
            let reads = fixture.reads()
            let keys = try await reads.checkpointKeys(of: .default)
            let verifiers = keys.compactMap { NoteVerifier($0.verifierKey) }
            #expect(verifiers.count == 1)
            let entries = try await fixture.entries()
            let checkpoints = try await fixture.checkpoints()
            for checkpoint in checkpoints {
                let note = try SignedNote(parsing: checkpoint.note)
                let opened = try Checkpoint.open(note, verifiers)
                #expect(opened.size == checkpoint.size)
                #expect(opened.root == TreeHash(checkpoint.root))
                for position in 0..<checkpoint.size {
                    let proof = try await reads.inclusion(
                        of: LogPosition(position), in: .default, size: checkpoint.size
                    ).get()
                    let path = proof.path.map { TreeHash($0) }
                    try InclusionProof(position: position, size: checkpoint.size, path: path)
                        .verify(leaf: TreeHash.leaf(entries[Int(position)]), root: opened.root)
                    #expect(proof.checkpoint == checkpoint)
                }
                for old in checkpoints where old.size <= checkpoint.size {
                    let proof = try await reads.consistency(
                        from: old.size, to: checkpoint.size, in: .default
                    ).get()
                    try ConsistencyProof(
                        old: old.size, size: checkpoint.size,
                        path: proof.path.map { TreeHash($0) }
                    ).verify(oldRoot: TreeHash(old.root), root: opened.root)
                }
            }
            await reads.close()
        }
    }

    @Test func `an impossible proof is refused with its reason`() async throws {
        try await SealingFixture.with { fixture, ledger in
            let reads = fixture.reads()
            func inclusion(_ position: Int64, _ size: Int64?) async throws -> ProofRefusal? {
                let result = try await reads.inclusion(
                    of: LogPosition(position), in: .default, size: size)
                if case .failure(let refusal) = result { return refusal }
                return nil
            }
            #expect(try await inclusion(0, nil) == .nothingSigned)
            #expect(try await inclusion(0, 1) == .nothingSigned)
            #expect(try await reads.latestCheckpoint(of: .default) == nil)
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.sealOnce()
            try await story.people(2..<3)
            let size = try #require(try await reads.latestCheckpoint(of: .default)).size
            #expect(try await inclusion(0, nil) == nil)
            #expect(try await inclusion(size - 1, nil) == nil)
            #expect(
                try await inclusion(size, nil) == .notCovered(LogPosition(size), size: size))
            #expect(try await inclusion(0, size + 1) == .sizeNotSigned(size + 1))
            #expect(try await inclusion(0, size - 1) == .sizeNotSigned(size - 1))
            for wrong in [0, -1, Int64.min, Int64.max] {
                #expect(try await inclusion(0, wrong) == .sizeNotSigned(wrong))
            }
            #expect(try await inclusion(-1, nil) == .notCovered(LogPosition(-1), size: size))
            try await fixture.sealOnce()
            let result = try await reads.consistency(from: size + 2, to: size, in: .default)
            #expect(throws: ProofRefusal.self) { try result.get() }
            await reads.close()
        }
    }

    @Test func `an unchanged log is not signed again, and rows have at most 56 hashes`()
        async throws
    {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<60)
            let size = Int64(try await fixture.entries().count)
            let round = try await fixture.sealOnce()
            #expect(round.publishedCount == 1)
            #expect(round.signed == [.default: size])
            let again = try await fixture.sealOnce()
            #expect(again.publishedCount == 0)
            #expect(again.signed == [.default: size])
            let rows = try await fixture.database.rows(
                "(first_index % 56)::text, least(octet_length(hashes), 1792)::text])"
                    + " FROM merkle_nodes ORDER BY first_index")
            #expect(rows.count == Int(StoredHashIndex.count(leaves: size) + 55) / 56)
            #expect(rows.dropLast().allSatisfy { $0 == "0|1792" })
        }
    }

    @Test func `the record equals the published note byte for byte`() async throws {
        try await SealingFixture.with { fixture, ledger in
            try await history(fixture, ledger, rounds: 2)
            let last = try #require(try fixture.record.lastSigned(of: .default))
            #expect(try await fixture.checkpoints().last?.note == last.note)
        }
    }

    @Test func `each tenant has its own log, keys and record`() async throws {
        let acme = tenant("acme")
        try await SealingFixture.with { fixture, ledger in
            try await ledger.open(acme)
            var story = Story(ledger.sequencer, tenant: acme, seed: 7)
            try await story.people(0..<3)
            let round = try await fixture.sealOnce()
            #expect(round.signed.keys.sorted() == [acme, .default])
            #expect(round.signed[.default] == 1)
            let reads = fixture.reads()
            let ours = try await reads.checkpointKeys(of: .default).map(\.verifierKey)
            let theirs = try await reads.checkpointKeys(of: acme).map(\.verifierKey)
            #expect(ours.first?.hasPrefix("ledger.example/test/default+") == true)
            #expect(theirs.first?.hasPrefix("ledger.example/test/acme+") == true)
            #expect(
                ours.first?.split(separator: "+").last != theirs.first?.split(separator: "+").last)
            await reads.close()
        }
    }
}
