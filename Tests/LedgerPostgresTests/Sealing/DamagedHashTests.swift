import Ledger
import LedgerTestSupport
import Testing
import TransparencyLog

@testable import LedgerEngine

extension TamperingTests {
    /// Signed hashes that are missing concern the log, however many are left; a rest of a tree does not.
    @Test func `missing signed hashes are told from part of a tree after them`() async throws {
        try await sealed { fixture, _, _ in
            try await fixture.tamper(
                "INSERT INTO merkle_nodes VALUES ('default', 53, decode(repeat('00', 64), 'hex'))")
            let added = try await fixture.sealOnce()
            #expect(added.refusals == [.default: .hashesDamaged])
            try await fixture.tamper(
                """
                DELETE FROM merkle_nodes WHERE first_index >= 53;
                UPDATE merkle_nodes SET hashes = substr(hashes, 1, octet_length(hashes) - 32)
                WHERE first_index = (SELECT max(first_index) FROM merkle_nodes)
                """)
            let removed = try await fixture.sealOnce()
            #expect(removed.refusals == [.default: .hashesTruncated(signed: 28)])
        }
    }

    /// Inside the rows of a sealer: a hash that no signature needs, one that each needs, and a whole row.
    @Test(arguments: [(2, 1), (30, 1), (2, 56)])
    func `a row that hides signed hashes is refused, and concerns no signed event`(
        first: Int, count: Int
    ) async throws {
        try await sealed { fixture, story, _ in
            let store = fixture.store()
            var sealing = LogSealing(store: store, record: fixture.record)
            #expect(try await sealing.round().signed == [.default: 28])
            try await fixture.database.asRuntime.execute(hashes(first, count))
            let finding = try #require(try await fixture.audit())
            #expect(SealingRefusal.contradicts(finding).sparesSignedEvents, "\(finding)")
            try await story.people(20..<21)
            for _ in 0..<2 {
                let round = try await sealing.round()
                #expect(round.refusals[.default]?.sparesSignedEvents != false, "\(round)")
            }
            await store.release()
            await store.close()
            let loaded = try await fixture.sealOnce()
            #expect(loaded.refusals[.default]?.sparesSignedEvents == true, "\(loaded)")
            // The sealer that had loaded the tree may have signed on.
            let signed = try fixture.record.lastSigned(of: .default)?.checkpoint.size ?? 0
            try await fixture.tamper(Self.deletion(signed: signed))
            #expect(try await fixture.sealOnce().signed == [.default: 31])
            #expect(try await fixture.audit() == nil)
        }
    }

    @Test func `a hash at the largest index is refused, and concerns no signed event`()
        async throws
    {
        try await sealed { fixture, story, _ in
            let store = fixture.store()
            var sealing = LogSealing(store: store, record: fixture.record)
            #expect(try await sealing.round().signed == [.default: 28])
            try await fixture.database.asRuntime.execute(hashes(.max, 1))
            try await story.people(20..<21)
            // The first one finds that others were stored, and the next one reads them.
            #expect(try await sealing.round().refusals.isEmpty)
            #expect(try await sealing.round().refusals == [.default: .hashesDamaged])
            await store.release()
            await store.close()
            #expect(try await fixture.audit() == nil)
            try await fixture.tamper(Self.deletion(signed: 28))
            #expect(try await fixture.sealOnce().signed == [.default: 31])
        }
    }

    /// Rows that any login of a server may add; each is refused, but something worse must be named instead.
    @Test(arguments: ["a checkpoint above", "a checkpoint below", "hashes"])
    func `a forged row hides no change of signed events`(row: String) async throws {
        try await sealed { fixture, _, _ in
            try await fixture.database.asRuntime.execute(
                row == "hashes"
                    ? hashes(2, 1)
                    : """
                    INSERT INTO checkpoints
                    SELECT tenant_id, origin, \(row.hasSuffix("above") ? 40 : 5), root, note, signed_at
                    FROM checkpoints WHERE size = 28
                    """)
            let forged = try #require(try await fixture.audit())
            #expect(SealingRefusal.contradicts(forged).sparesSignedEvents, "\(forged)")
            try await fixture.tamper(
                """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 11
                """)
            let changed = try #require(try await fixture.audit())
            #expect(!SealingRefusal.contradicts(changed).sparesSignedEvents, "\(changed)")
            #expect((changed.after, changed.before ?? 0) == (10, 19))
            try await fixture.tamper(
                """
                DELETE FROM events WHERE position >= 24;
                UPDATE ledger_head SET next_position = 24, mac = NULL
                """)
            let round = try await fixture.sealOnce()
            #expect(round.refusals == [.default: .logTruncated(size: 24, signed: 28)])
        }
    }

    private func hashes(_ first: Int, _ count: Int) -> String {
        """
        INSERT INTO merkle_nodes
        VALUES ('default', \(first), decode(repeat('00', \(count) * 32), 'hex'))
        """
    }

    /// The statement of `docs/sealing.md` that deletes rows of hashes that no sealer has added.
    private static func deletion(signed: Int64) -> String {
        """
        WITH RECURSIVE genuine (first_index, next) AS (
            SELECT -1::bigint, 0::bigint
            UNION ALL
            SELECT m.first_index, m.first_index + octet_length(m.hashes) / 32
            FROM genuine g JOIN merkle_nodes m ON m.tenant_id = 'default' AND m.first_index = g.next
            WHERE g.next < 2 * \(signed) - bit_count(\(signed)::bit(64)))
        DELETE FROM merkle_nodes
        WHERE tenant_id = 'default' AND first_index NOT IN (SELECT first_index FROM genuine)
        """
    }
}
