import Ledger
import LedgerEngine
import LedgerTestSupport
import Testing
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerPostgres

/// A sequence of attacks by a superuser, whom no grant and no trigger stops.
@Suite struct TamperDrillTests {
    /// A change of the database, and the expected findings.
    private struct Drill {
        let name: String
        let sql: String
        /// The position and the text of the finding.
        let found: String
        /// The reason for which the sealer refuses.
        let refused: String
    }

    private static let drills = [
        Drill(
            name: "an entry is rewritten",
            sql: """
                UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
                    '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 14
                """,
            found: "position 14, checkpoints: the entry is not the one that was sealed;"
                + " what was signed is contradicted between 13 and 18",
            refused: "position 14: the entry is not the one that was hashed"),
        Drill(
            name: "the tail is deleted",
            sql: """
                DELETE FROM events WHERE position >= 22;
                UPDATE ledger_head SET next_position = 22
                """,
            found: "position 22, checkpoints: events are missing between 22 and 24:"
                + " a checkpoint of size 25 was signed",
            refused: "the log went back: it has 22 events, and 25 were signed"),
        Drill(
            name: "two rows change places",
            sql: """
                UPDATE events e SET entry = o.entry FROM events o
                WHERE (e.position, o.position) IN ((9, 16), (16, 9))
                """,
            found: "position 9, checkpoints: the entry is not the one that was sealed;"
                + " what was signed is contradicted between 7 and 12",
            refused: "position 9: the entry is not the one that was hashed"),
    ]

    @Test func `whatever a superuser does is found, located and not signed over`() async throws {
        try await SealingFixture.with { fixture, ledger in
            // Checkpoints of sizes 7, 13, 19 and 25, then three unsigned events.
            var story = Story(ledger.sequencer)
            for first in [1, 3, 5, 7] {
                try await story.people(first..<first + 2)
                try await fixture.sealOnce()
            }
            try await story.people(9..<10)
            try await fixture.database.fold()
            try await fixture.tamper(SealingFixture.backUp)
            try await expectComplete(fixture)

            for drill in Self.drills {
                try await fixture.tamper(drill.sql)
                try await expect(drill.found, fixture, drill.name)
                try await expectRefused(drill.refused, fixture, drill.name)
                try await fixture.tamper(SealingFixture.restoreBackup)
                try await expectComplete(fixture)
            }

            try await editDisclosure(fixture)

            try await story.people(10..<11)
            try await fixture.sealOnce()
            try await fixture.tamper(SealingFixture.restoreBackup)
            try await expect(
                "position 28, checkpoints: events are missing between 28 and 30:"
                    + " a checkpoint of size 31 was signed", fixture, "back to a backup")
            try await expectRefused(
                "the log went back: it has 28 events, and 31 were signed", fixture,
                "back to a backup")
        }
    }

    /// Edits a disclosure, which sealers may not read; `verify` with the keys finds it.
    ///
    /// Only its digest is signed.
    private func editDisclosure(_ fixture: SealingFixture) async throws {
        let flip = """
            UPDATE disclosures SET ciphertext =
                set_byte(ciphertext, 20, get_byte(ciphertext, 20) # 1) WHERE position = 5
            """
        try await fixture.tamper(flip)
        try await expect("position 5, disclosures: ", fixture, "a disclosure is edited")
        let sealer = LedgerRoles(database: fixture.database.name).sealer
        for (table, isReadable) in [("events", "true"), ("disclosures", "false")] {
            let rights = try await fixture.database.rows(
                "has_any_column_privilege('\(sealer)', '\(table)', 'SELECT')::text])")
            #expect(rights == [isReadable], "\(table)")
        }
        #expect(try await fixture.sealOnce().signed == [.default: 28])
        try await fixture.tamper(flip)
        try await expectComplete(fixture)
    }

    /// Verifies with the data outside the database: the keys, and the sealer's last signature.
    private func verify(_ fixture: SealingFixture) async throws -> VerificationReport {
        var trust = SealTrust()
        trust.verifiers = try fixture.record.logState(of: .default, mayBegin: false).verifiers
        trust.records[.default] = try fixture.record.lastSigned(of: .default)?.checkpoint
        let verifier = Verifier(
            url: fixture.database.runtimeURL, keyring: SequencerFixture.keyring, trust: trust)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }

    private func expectComplete(_ fixture: SealingFixture) async throws {
        let report = try await verify(fixture)
        #expect(report.holds && !report.isSearched, "\(report.findings)")
    }

    private func expect(_ found: String, _ fixture: SealingFixture, _ name: String) async throws {
        let report = try await verify(fixture)
        #expect(
            report.findings.contains { $0.description.contains("tenant default, " + found) },
            "\(name): \(report.findings)")
    }

    private func expectRefused(
        _ words: String, _ fixture: SealingFixture, _ name: String
    ) async throws {
        let before = try fixture.record.lastSigned(of: .default)
        let round = try await fixture.sealOnce()
        let refusal = round.refusals[.default]?.description ?? "signed"
        #expect(refusal.contains(words), "\(name): \(refusal)")
        #expect(round.publishedCount == 0 && round.signed.isEmpty, "\(name)")
        #expect(try fixture.record.lastSigned(of: .default) == before, "\(name)")
    }
}
