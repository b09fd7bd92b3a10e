import Ledger
import LedgerTestSupport
import Testing
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// A sealer's findings on a database that an attacker with all rights has changed.
@Suite struct TamperingTests {
    /// Three checkpoints, of sizes 10, 19 and 28.
    func sealed(
        _ body: (SealingFixture, inout Story, SequencerFixture) async throws -> Void
    ) async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            for round in 0..<3 {
                try await story.people((round * 3)..<(round * 3 + 3))
                try await fixture.sealOnce()
            }
            #expect(try await fixture.checkpoints().map(\.size) == [10, 19, 28])
            try await body(fixture, &story, ledger)
        }
    }

    @Test func `an entry that was rewritten is named, and where it was signed`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.tamper(
                """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 11
                """)
            let finding = try #require(try await fixture.audit())
            #expect(finding.position == 11)
            #expect((finding.after, finding.before ?? 0) == (10, 19))
        }
    }

    @Test func `an entry that was rewritten together with its hashes is found between checkpoints`()
        async throws
    {
        try await sealed { fixture, _, _ in
            try await fixture.tamper(
                """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 11
                """)
            try await rehash(fixture)
            let finding = try #require(try await fixture.audit())
            #expect(finding.position == nil)
            #expect((finding.after, finding.before ?? 0) == (10, 19))

            // Also with rewritten or deleted checkpoints, which an attacker cannot sign again.
            try await fixture.tamper("DELETE FROM checkpoints WHERE size = 19")
            let wider = try #require(try await fixture.audit())
            #expect((wider.after, wider.before ?? 0) == (10, 28))
            try await fixture.tamper("DELETE FROM checkpoints")
            let widest = try #require(try await fixture.audit())
            #expect((widest.after, widest.before ?? 0) == (0, 28))
        }
    }

    /// Stores the hashes of the current entries.
    private func rehash(_ fixture: SealingFixture) async throws {
        var tree = CompactRange()
        var bytes: [UInt8] = []
        for entry in try await fixture.entries() {
            for hash in tree.append(TreeHash.leaf(entry)) { hash.append(to: &bytes) }
        }
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try await fixture.tamper(
            """
            UPDATE merkle_nodes SET hashes = substr('\\x\(hex)'::bytea,
                (first_index * 32 + 1)::int, octet_length(hashes))
            """)
    }

    @Test func `two rows that changed places are named`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.tamper(
                """
                UPDATE events e SET entry = o.entry FROM events o
                WHERE (e.position, o.position) IN ((3, 25), (25, 3))
                """)
            let finding = try #require(try await fixture.audit())
            #expect(finding.position == 3)
            #expect((finding.after, finding.before ?? 0) == (0, 10))
        }
    }

    @Test func `a stored hash that flipped a bit is named by the audit`() async throws {
        try await sealed { fixture, story, _ in
            try await fixture.tamper(
                "UPDATE merkle_nodes SET hashes = set_bit(hashes, 5, 1 - get_bit(hashes, 5))"
                    + " WHERE first_index = 0")
            let finding = try #require(try await fixture.audit())
            #expect(finding.position == 0)
            try await story.people(20..<21)
            // The flipped bit is in no proof between these sizes, but in the last signed page, which a sealer
            // checks when it acquires a log.
            guard case .contradicts(let end) = try await fixture.sealOnce().refusals[.default]
            else {
                Issue.record("signed on")
                return
            }
            #expect(end.position == 0)
        }
    }

    @Test func `a hash that flips a bit between being stored and being signed is not signed`()
        async throws
    {
        try await sealed { fixture, story, _ in
            try await story.people(20..<22)
            let store = fixture.store()
            var sealing = LogSealing(
                store: FlippingStore(store: store, flip: fixture.tamper), record: fixture.record)
            let round = try await sealing.round()
            #expect(round.publishedCount == 0)
            guard case .contradicts(let finding) = round.refusals[.default] else {
                Issue.record("signed all the same")
                return
            }
            #expect(finding.position == 28)
            #expect(finding.after == 28)
            #expect(finding.before == nil)
            #expect(try await fixture.checkpoints().map(\.size) == [10, 19, 28])
            await store.release()
            await store.close()
        }
    }

    @Test func `a truncated log is not signed, whatever is appended later`() async throws {
        try await sealed { fixture, story, _ in
            try await fixture.tamper("DELETE FROM events WHERE position >= 24")
            let finding = try #require(try await fixture.audit())
            #expect(finding.position == 24)
            #expect((finding.after, finding.before ?? 0) == (19, 28))
            // The head, too: immediately, without an audit.
            try await fixture.tamper("UPDATE ledger_head SET next_position = 24, mac = NULL")
            let round = try await fixture.sealOnce()
            #expect(round.refusals == [.default: .logTruncated(size: 24, signed: 28)])
            // Also the hashes, and other events at their positions.
            try await fixture.tamper("TRUNCATE merkle_nodes")
            try await story.people(30..<40)
            let later = try await fixture.sealOnce()
            #expect(later.refusals == [.default: .hashesTruncated(signed: 28)])
            #expect(later.publishedCount == 0)
            try await fixture.tamper("DELETE FROM checkpoints")
            #expect(
                try await fixture.sealOnce().refusals == [.default: .hashesTruncated(signed: 28)])
            #expect(try fixture.record.lastSigned(of: .default)?.checkpoint.size == 28)
        }
    }

    @Test func `other events than those that were signed are not signed over`() async throws {
        try await sealed { fixture, story, _ in
            try await fixture.tamper(
                """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 26
                """)
            try await rehash(fixture)
            let round = try await fixture.sealOnce()
            guard case .contradicts(let finding) = round.refusals[.default] else {
                Issue.record("taken for what was signed")
                return
            }
            #expect(finding.before == 28)
            try await story.people(50..<52)
            #expect(try await fixture.sealOnce().publishedCount == 0)
        }
    }

    @Test func `no proof is made for unsigned sizes`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.tamper(
                """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 11
                """)
            let reads = fixture.reads()
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.inclusion(of: LogPosition(11), in: .default, size: nil)
            }
            _ = try await reads.inclusion(of: LogPosition(8), in: .default, size: 19).get()
            try await rehash(fixture)
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.inclusion(of: LogPosition(8), in: .default, size: 19)
            }
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.consistency(from: 10, to: 19, in: .default)
            }
            await reads.close()
        }
    }
}

extension TamperingTests {
    @Test func `a proof is not handed out with a note that does not sign it`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.tamper("CREATE TABLE aside AS TABLE checkpoints")
            for edit in [
                "replace(note, E'\\n19\\n', E'\\n18\\n')",
                "regexp_replace(note, '\\n\\n.*', E'\\n')",
                "(SELECT note FROM checkpoints WHERE size = 10)",
            ] {
                try await fixture.tamper(
                    "UPDATE checkpoints SET note = \(edit) WHERE size = 19")
                let reads = fixture.reads()
                await #expect(throws: LedgerFault.internalFailure, "\(edit)") {
                    try await reads.inclusion(of: LogPosition(3), in: .default, size: 19)
                }
                await #expect(throws: LedgerFault.internalFailure, "\(edit)") {
                    try await reads.consistency(from: 10, to: 19, in: .default)
                }
                _ = try await reads.inclusion(of: LogPosition(3), in: .default, size: nil).get()
                await reads.close()
                try await fixture.tamper(
                    "UPDATE checkpoints c SET note = a.note FROM aside a WHERE c.size = a.size")
            }
        }
    }

    /// A login with the right to add checkpoints can add one, but not sign it.
    private static let stray = """
        INSERT INTO checkpoints SELECT tenant_id, origin, 40, root, note, signed_at
        FROM checkpoints WHERE size = 28
        """

    @Test func `an unsigned checkpoint is not served`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.database.asSuperuser.execute(Self.stray)
            let reads = fixture.reads()
            #expect(try await reads.latestCheckpoint(of: .default)?.size == 28)
            let proof = try await reads.inclusion(of: LogPosition(3), in: .default, size: nil)
            #expect(try proof.get().checkpoint.size == 28)
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.inclusion(of: LogPosition(3), in: .default, size: 40)
            }
            try await fixture.tamper("DELETE FROM checkpoints WHERE size < 40")
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.latestCheckpoint(of: .default)
            }
            await reads.close()
        }
    }

    /// More than a page.
    @Test func `signed rows are found among any unsigned ones`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.database.asRuntime.execute(
                """
                INSERT INTO checkpoints SELECT tenant_id, origin, n, root, note, 'infinity'
                FROM checkpoints, generate_series(1, 1200) n
                WHERE size = 28 AND n NOT IN (10, 19, 28);
                INSERT INTO checkpoints VALUES
                    ('default', 'x', 1200, sha256(''), '', '-infinity'),
                    ('default', 'y', 9223372036854775807, sha256(''), '', now());
                INSERT INTO checkpoint_keys VALUES ('default', 'y+none', 'infinity')
                """)
            let reads = fixture.reads()
            #expect(try await reads.latestCheckpoint(of: .default)?.size == 28)
            let all = try await reads.checkpoints(of: .default, sizes: 1...(.max), limit: 1_000)
            #expect(all.map(\.size) == [10, 19, 28])
            let some = try await reads.checkpoints(of: .default, sizes: 11...(.max), limit: 1)
            #expect(some.map(\.size) == [19])
            _ = try await reads.inclusion(of: LogPosition(3), in: .default, size: nil).get()
            #expect(try await reads.checkpointKeys(of: .default).count == 2)
            await reads.close()

            let exporter = Exporter(url: fixture.database.runtimeURL, keyring: nil)
            let basis = try await exporter.basis(of: .default, since: 19)
            #expect(basis.checkpoint.size == 28 && basis.older.count == 2)
            #expect(basis.keys.allSatisfy { NoteVerifier($0) != nil })
            let strays = try await exporter.all(in: .default, basis: basis) { _ in }
            #expect(strays == 25)
            await #expect(throws: ExportFailure.self) {
                try await exporter.basis(of: .default, since: 18)
            }
            await exporter.close()
        }
    }

    @Test func `a search among unsigned rows ends`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.database.asRuntime.execute(
                """
                INSERT INTO checkpoints SELECT tenant_id, origin, 100 + n, root, '', signed_at
                FROM checkpoints, generate_series(1, \(NewestCheckpoint.unsignedMax + 600)) n
                WHERE size = 28
                """)
            let reads = fixture.reads()
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.latestCheckpoint(of: .default)
            }
            await #expect(throws: LedgerFault.internalFailure) {
                try await reads.checkpoints(of: .default, sizes: 29...(.max), limit: 1)
            }
            #expect(
                try await reads.checkpoints(of: .default, sizes: 1...28, limit: 9).count == 3)
            await reads.close()
        }
    }

    @Test func `a checkpoint is not published behind another one of its size`() async throws {
        try await sealed { fixture, story, _ in
            let store = fixture.store()
            var sealing = LogSealing(store: store, record: fixture.record)
            #expect(try await sealing.round().signed == [.default: 28])
            try await fixture.database.asSuperuser.execute(
                Self.stray.replacing(" 40,", with: " 31,"))
            try await story.people(20..<21)
            #expect(try await sealing.round().publishedCount == 0)
            let round = try await sealing.round()
            #expect(
                round.refusals[.default]?.description.contains("is not the one that was signed")
                    == true, "\(round)")
            await store.release()
            await store.close()
        }
    }

    @Test func `an unsigned checkpoint is named by the sealer and by the audit`()
        async throws
    {
        try await sealed { fixture, story, _ in
            try await fixture.database.asSuperuser.execute(Self.stray)
            let finding = try #require(try await fixture.audit())
            #expect(
                finding.what
                    == "the published checkpoint of size 40 contradicts its row")
            try await story.people(20..<21)
            let round = try await fixture.sealOnce()
            #expect(
                round.refusals[.default]?.description.contains("of size 40 contradicts its")
                    == true,
                "\(round.refusals)")
            try await fixture.tamper("DELETE FROM checkpoints WHERE size = 40")
            #expect(try await fixture.sealOnce().signed == [.default: 31])
        }
    }
}

/// Flips a bit of the last row of hashes as soon as they are stored.
private struct FlippingStore: SealerStore {
    let store: any SealerStore
    let flip: @Sendable (String) async throws -> Void

    func append(_ hashes: [TreeHash], from index: Int64, of tenant: TenantID) async throws {
        try await store.append(hashes, from: index, of: tenant)
        try await flip(
            "UPDATE merkle_nodes SET hashes = set_bit(hashes, 5, 1 - get_bit(hashes, 5))"
                + " WHERE first_index = \(index)")
    }

    func logs(without left: [TenantID]) async throws -> [SealerLog] {
        try await store.logs(without: left)
    }

    func logState(of tenant: TenantID) async throws -> SealedState {
        try await store.logState(of: tenant)
    }

    func entries(of tenant: TenantID, from: Int64, limit: Int) async throws -> [[UInt8]] {
        try await store.entries(of: tenant, from: from, limit: limit)
    }

    func hashes(of tenant: TenantID, at indexes: [Int64]) async throws -> [TreeHash?] {
        try await store.hashes(of: tenant, at: indexes)
    }

    func hashesOverlap(of tenant: TenantID, at indexes: [Int64]) async throws -> Bool {
        try await store.hashesOverlap(of: tenant, at: indexes)
    }

    func reread(_ positions: Range<Int64>, of tenant: TenantID) async throws -> RereadRange {
        try await store.reread(positions, of: tenant)
    }

    func checkpoints(
        of tenant: TenantID, above size: Int64, limit: Int
    ) async throws -> [SignedCheckpoint] {
        try await store.checkpoints(of: tenant, above: size, limit: limit)
    }

    func publish(_ signed: LastSigned, keys: [String], of tenant: TenantID) async throws {
        try await store.publish(signed, keys: keys, of: tenant)
    }

    func release() async { await store.release() }

    func failure(of error: any Error) -> StoreFailure? { store.failure(of: error) }

    func close() async { await store.close() }
}
