import Cryptography
import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerPostgres

/// The comparison of a log with its seals by a verification.
@Suite struct SealedVerifierTests {
    /// Runs a body with a log of 25 events with checkpoints of sizes 7, 13, 19 and 25, unfolded and
    /// undamaged.
    private static func with(
        _ body: (SealingFixture) async throws -> Void
    ) async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            for part in [1...2, 3...4, 5...6, 7...8] {
                try await story.people(part.lowerBound..<part.upperBound + 1)
                try await fixture.sealOnce()
            }
            try await fixture.database.fold()
            try await body(fixture)
        }
    }

    private static func verify(
        _ fixture: SealingFixture, _ trust: SealTrust = SealTrust(), rangeEvents: Int64 = 5
    ) async throws -> VerificationReport {
        let verifier = Verifier(
            url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring, trust: trust,
            rangeEvents: rangeEvents)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }

    @Test(arguments: [Int64(2_000), 5, 1])
    func `a sealed log holds, and every hash and checkpoint was checked`(
        rangeEvents: Int64
    ) async throws {
        try await Self.with { fixture in
            let report = try await Self.verify(fixture, rangeEvents: rangeEvents)
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            #expect(report.events == 25)
            #expect(report.counts[.checkpoints] == 4)
            #expect(report.counts[.nodes] == StoredHashIndex.count(leaves: 25))
            #expect(report.signedEvents == 25)
        }
    }

    @Test func `the unsealed end is no finding`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(1..<3)
            try await fixture.sealOnce()
            try await story.people(3..<5)
            try await fixture.database.fold()
            let report = try await Self.verify(fixture)
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            #expect(report.signedEvents == 7 && report.events == 13)
        }
    }

    struct Tampering: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let check: VerificationCheck
        let position: Int64?
        let says: String
    }

    /// Another id in an entry and its column, with all derived data adapted.
    private static let rewritten = """
        UPDATE events SET
            entry = convert_to(replace(convert_from(entry, 'UTF8'), event_id::text,
                '00000000-0000-7000-8000-000000000000'), 'UTF8'),
            event_id = '00000000-0000-7000-8000-000000000000'
        WHERE position = 15;
        UPDATE accounts a SET last_leaf = sha256('\\x00'::bytea || e.entry)
        FROM events e WHERE e.position = 15 AND a.last_position = 15;
        UPDATE account_audit_1 SET event_id = '00000000-0000-7000-8000-000000000000'
        WHERE position = 15
        """
    /// Returns the SQL that changes the stored hash of the leaf at position 15, or of the node over it and
    /// its predecessor.
    private static func hash(_ index: Int, is value: String) -> String {
        """
        UPDATE merkle_nodes SET hashes = overlay(hashes placing \(value)
            from (32 * (\(index) - first_index) + 1)::int for 32)
        WHERE first_index <= \(index) AND first_index + octet_length(hashes) / 32 > \(index)
        """
    }
    private static let ownHash = hash(
        26, is: "(SELECT sha256('\\x00'::bytea || entry) FROM events WHERE position = 15)")

    static let tamperings = [
        Tampering(
            testDescription: "an entry rewritten with everything that follows from it",
            sql: rewritten, check: .checkpoints, position: 15, says: "between 13 and 18"),
        Tampering(
            testDescription: "the same and its stored hash", sql: rewritten + ";" + ownHash,
            check: .checkpoints, position: 13, says: "between 13 and 18"),
        Tampering(
            testDescription: "a deleted tail",
            sql: "DELETE FROM events WHERE position >= 22", check: .checkpoints, position: 22,
            says: "missing between 22 and 24"),
        Tampering(
            testDescription: "a deleted tail and its hashes",
            sql: "DELETE FROM events WHERE position >= 22; DELETE FROM merkle_nodes",
            check: .checkpoints, position: 22, says: "a checkpoint of size 25 was signed"),
        Tampering(
            testDescription: "swapped rows",
            sql: """
                UPDATE events SET position = position + 100 WHERE position IN (9, 10);
                UPDATE events SET position = CASE position WHEN 109 THEN 10 ELSE 9 END
                WHERE position > 100
                """, check: .checkpoints, position: 9, says: "between 7 and 12"),
        Tampering(
            testDescription: "an invalid entry",
            sql: "UPDATE events SET entry = '\\xdead' WHERE position = 3", check: .checkpoints,
            position: 3, says: "between 0 and 6"),
        Tampering(
            testDescription: "a stored hash", sql: hash(27, is: "sha256('')"), check: .nodes,
            position: 15,
            says: "agrees with the log"),
        Tampering(
            testDescription: "missing hashes",
            sql: "DELETE FROM merkle_nodes WHERE first_index = 0",
            check: .nodes, position: 0, says: "agrees with the log"),
        Tampering(
            testDescription: "no hashes at all", sql: "DELETE FROM merkle_nodes", check: .nodes,
            position: 0, says: "the stored hashes end at 0, and size 25 was signed"),
        Tampering(
            testDescription: "the last hashes missing",
            sql: "DELETE FROM merkle_nodes WHERE first_index > 0", check: .nodes,
            position: 7, says: "the stored hashes end at 7, and size 25 was signed"),
        Tampering(
            testDescription: "hashes of no length",
            sql: """
                ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
                ALTER TABLE merkle_nodes DROP CONSTRAINT merkle_nodes_hashes_check;
                UPDATE merkle_nodes SET hashes = substr(hashes, 1, 33) WHERE first_index = 0
                """, check: .nodes, position: 0, says: "are not contiguous"),
        Tampering(
            testDescription: "a surplus hash",
            sql: "INSERT INTO merkle_nodes VALUES ('default', 1000, sha256(''))", check: .nodes,
            position: nil, says: "not those of a complete tree"),
        Tampering(
            testDescription: "a checkpoint of another root",
            sql: "UPDATE checkpoints SET root = sha256('') WHERE size = 13", check: .checkpoints,
            position: 12, says: "contradicts its row"),
        Tampering(
            testDescription: "a forged checkpoint",
            sql: """
                UPDATE checkpoints SET note = replace(note, E'\\n13\\n', E'\\n12\\n'), size = 12
                WHERE size = 13
                """, check: .checkpoints, position: 11, says: "invalid signature"),
        Tampering(
            testDescription: "a checkpoint of another size",
            sql: "UPDATE checkpoints SET size = 30 WHERE size = 25", check: .checkpoints,
            position: 29, says: "the checkpoint of size 30 contradicts its row"),
        Tampering(
            testDescription: "a checkpoint of the right root under another name",
            sql: "UPDATE checkpoints SET origin = 'ledger.example/x' WHERE size = 25",
            check: .checkpoints, position: 24, says: "contradicts its row"),
        Tampering(
            testDescription: "a checkpoint of an unknown key",
            sql: "DELETE FROM checkpoint_keys", check: .checkpoints, position: 6,
            says: "not signed by a known key"),
        Tampering(
            testDescription: "an invalid note",
            sql: "UPDATE checkpoints SET note = repeat('x', 4096) WHERE size = 19",
            check: .checkpoints, position: 18, says: "is not a signed checkpoint"),
        Tampering(
            testDescription: "an empty note",
            sql: """
                ALTER TABLE checkpoints ALTER note DROP NOT NULL, ALTER root DROP NOT NULL;
                ALTER TABLE merkle_nodes ALTER hashes DROP NOT NULL;
                UPDATE merkle_nodes SET hashes = NULL WHERE first_index = 0;
                UPDATE checkpoints SET note = NULL, root = NULL WHERE size = 19
                """, check: .checkpoints, position: 18, says: "is not a signed checkpoint"),
        Tampering(
            testDescription: "an invalid key",
            sql: "INSERT INTO checkpoint_keys VALUES ('default', '+', now())", check: .checkpoints,
            position: nil, says: "has an invalid key"),
    ]

    @Test(arguments: tamperings)
    func `a change of the sealed part is found at its position`(tampering: Tampering) async throws {
        try await Self.with { fixture in
            try await fixture.tamper(tampering.sql)
            let report = try await Self.verify(fixture)
            #expect(!report.holds && report.isSearched)
            let position = tampering.position.map { LogPosition($0) }
            let found = report.findings.contains {
                $0.check == tampering.check && $0.position == position
                    && $0.text.contains(tampering.says)
            }
            #expect(found, "\(report.findings)")
        }
    }

    /// A complete rollback: nothing in the database shows that there were later events.
    @Test
    func `a database that was rolled back agrees with itself, but not with the kept checkpoint`()
        async throws
    {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(1..<3)
            try await fixture.sealOnce()
            try await fixture.database.fold()
            try await fixture.tamper(SealingFixture.backUp)
            try await story.people(3..<5)
            try await fixture.sealOnce()
            try await fixture.database.fold()
            let last = try #require(try await fixture.checkpoints().last)
            let note = try SignedNote(parsing: last.note)
            var trust = SealTrust()
            trust.anchors[.default] = [try #require(Checkpoint(text: note.text))]
            let before = try await Self.verify(fixture, trust)
            #expect(before.holds && before.counts[.checkpoints] == 3, "\(before.findings)")

            try await fixture.tamper(SealingFixture.restoreBackup)
            #expect(try await Self.verify(fixture).holds, "it agrees with itself")
            let report = try await Self.verify(fixture, trust)
            let finding = try #require(report.findings.first)
            #expect(finding.position == LogPosition(7), "\(finding)")
            #expect(finding.text.contains("events are missing between 7 and 12"), "\(finding)")
        }
    }

    @Test func `only the keys that the auditor brings are accepted`() async throws {
        try await Self.with { fixture in
            let logState = try fixture.record.logState(of: .default, mayBegin: false)
            var trust = SealTrust()
            trust.verifiers = logState.verifiers
            let report = try await Self.verify(fixture, trust)
            #expect(report.holds, "\(report.findings)")
            let name = try #require(NoteKeyName(SealingFixture.origin))
            trust.verifiers = [
                NoteVerifier(name: name, publicKey: Ed25519PrivateKey.generate().publicKey)
            ]
            let distrusted = try await Self.verify(fixture, trust)
            #expect(distrusted.findingCount == 5, "\(distrusted.findings)")
        }
    }

    @Test func `a row that claims more than was signed is reported, without missing events`()
        async throws
    {
        try await Self.with { fixture in
            try await fixture.tamper(
                """
                INSERT INTO checkpoints SELECT tenant_id, origin, 30 + n, root, note, signed_at
                FROM checkpoints, generate_series(1, 250) n WHERE size = 25
                """)
            let report = try await Self.verify(fixture)
            #expect(!report.holds)
            #expect(
                report.findings.allSatisfy {
                    $0.check == .checkpoints && $0.text.contains("contradicts its row")
                }, "\(report.findings)")
        }
    }

    /// The database shows no sign of a seal; the given keys do.
    @Test func `an unsealed log does not hold against given keys`()
        async throws
    {
        try await Self.with { fixture in
            var trust = SealTrust()
            trust.verifiers = try fixture.record.logState(of: .default, mayBegin: false).verifiers
            try await fixture.tamper(
                Self.rewritten + ";"
                    + "DELETE FROM merkle_nodes; DELETE FROM checkpoints; DELETE FROM checkpoint_keys"
            )
            #expect(try await Self.verify(fixture).holds, "it vouches for itself")
            let report = try await Self.verify(fixture, trust)
            #expect(
                report.findings.map(\.text) == [
                    "no given key has signed any part of the log"
                ])
        }
    }

    /// The newest seals are gone, and the part they sealed was rewritten.
    @Test func `the sealer's last checkpoint must hold, whatever the database contains`()
        async throws
    {
        try await Self.with { fixture in
            var trust = SealTrust()
            trust.records[.default] = try fixture.record.lastSigned(of: .default)?.checkpoint
            trust.recordKeys[.default] =
                try fixture.record.logState(of: .default, mayBegin: false).verifiers
            let before = try await Self.verify(fixture, trust)
            #expect(before.holds && !before.isSearched, "\(before.findings)")
            try await fixture.tamper(
                Self.rewritten + ";"
                    + "DELETE FROM merkle_nodes WHERE first_index > 0;"
                    + "DELETE FROM checkpoints WHERE size > 7")
            #expect(try await Self.verify(fixture).holds, "it agrees with itself")
            let report = try await Self.verify(fixture, trust)
            #expect(
                report.findings.map(\.description) == [
                    "tenant default, position 7, merkle_nodes: the stored hashes end at 7, and size"
                        + " 25 was signed",
                    "tenant default, position 7, checkpoints: the entries are not those of the"
                        + " checkpoint that was kept, between 7 and 24",
                ])
        }
    }
}
