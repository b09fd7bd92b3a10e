import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// A ledger that the former release has written is upgraded, and loses nothing.
@Suite struct UpgradeTests {
    @Test func `it verifies, replays and projects to the same`() async throws {
        try await Self.with { database, lines in
            try await verify(database)
            let tables = try await database.asSuperuser.texts(
                "SELECT name || '_' || generation FROM projection_tables ORDER BY 1")
            #expect(tables.count == ProjectionName.allCases.count)
            let rebuild = Rebuild(url: database.runtimeURL, keyring: SequencerFixture.strictKeyring)
            for projection in ProjectionName.allCases {
                for report in try await rebuild.run(projection) {
                    #expect(report.differences == 0 && report.fault == nil, "\(report)")
                }
            }
            await rebuild.close()
            for table in tables {
                let former = lines.filter { $0.contains("\"table\" : \"\(table)\"") }
                #expect(!former.isEmpty, "\(table)")
                let found = try await LedgerDump.differences(
                    from: former, in: table, of: database)
                #expect(found == [], "\(table)")
            }
        }
    }

    @Test func `it holds every event of the release that needs no restore`() async throws {
        try await Self.with { database, _ in
            let types = try await database.asSuperuser.texts(
                "SELECT DISTINCT type || ' ' || schema_version FROM events ORDER BY 1")
            #expect(
                types == [
                    "AccountErased 2", "AccountOpened 1", "AccountsMerged 1",
                    "AccountsUnmerged 1", "ConflictRejected 1", "KeyRotated 2", "LedgerOpened 2",
                    "LegalHoldLifted 1", "LegalHoldSet 1", "LinkRejected 1", "ProviderLinked 1",
                    "ProviderUnlinked 1", "SessionRevoked 1", "SignedIn 2", "SignedOut 1",
                    "UnlinkRejected 1",
                ])
        }
    }

    @Test func `it goes on, and people find their accounts`() async throws {
        try await Self.with { database, _ in
            let before = try await database.asSuperuser.texts(
                """
                SELECT account_id::text FROM identities
                WHERE tenant_id = 'default' AND provider_id IN ('ada-a', 'dave-f') ORDER BY provider
                """)
            try await SequencerFixture.with(database, isProtected: true, opensLedger: false) {
                var story = Story($0.sequencer, seed: 99)
                let ada = try await story.signIn("apple", "ada-a")
                let dave = try await story.signIn("facebook", "dave-f")
                #expect([ada, dave].map { "\($0.account)" } == before)
                try await story.unlink(ada, "google")
                try await story.link(ada, "google", "ada-again", email: "ada@again.example")
                try await recordRules(in: &story)
            }
            try await database.fold()
            try await verify(database)
        }
    }

    /// Records rules as the first server does.
    private func recordRules(in story: inout Story) async throws {
        let policy = SequencerFixture.unlimitedPolicy
        for isNew in [true, false] {
            let reply = try await story.submit(
                .setRules(SetRules(policy, condition: .noneRecorded))
            ).get()
            let rules = try #require(RulesSet(version: 1, policy: policy))
            #expect(reply == .rulesRecorded(rules, isNew: isNew, omitted: []))
        }
    }

    /// Not a test: writes the fixture of the present release on demand.
    @Test(.enabled(if: ProcessInfo.processInfo.environment[FormerLedger.variable] != nil))
    func `the present release writes its ledger`() async throws {
        let path = try #require(ProcessInfo.processInfo.environment[FormerLedger.variable])
        try await FormerLedger.write(to: path)
    }

    /// Restores the fixture at its own schema, migrates it, and passes the database and the fixture's lines.
    private static func with(
        _ body: (ScratchDatabase, [String]) async throws -> Void
    ) async throws {
        let lines = try FormerLedger.lines()
        try await ScratchDatabase.with(isMigrated: false) { database in
            try await FormerLedger.restore(lines, into: database)
            let migrated = try await database.migrate()
            #expect(
                migrated.applied
                    == Migration.embedded.map(\.version).filter { $0 > FormerLedger.schema })
            try await body(database, lines)
        }
    }

    /// Verifies with the keys, and without any as an auditor.
    private func verify(_ database: ScratchDatabase) async throws {
        for keyring in [SequencerFixture.strictKeyring, nil] {
            let verifier = Verifier(url: database.runtimeURL, keyring: keyring)
            let report = try await verifier.run()
            await verifier.close()
            #expect(report.holds, "\(report.findings)")
            #expect(report.tenants == 2)
            #expect(report.checksMACs == (keyring != nil))
            #expect(report.signedEvents > 0)
        }
    }
}
