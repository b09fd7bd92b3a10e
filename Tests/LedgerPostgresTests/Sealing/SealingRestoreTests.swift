import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

@testable import LedgerEngine
@testable import LedgerPostgres

/// A database that was restored from a backup, and how its log continues.
@Suite struct SealingRestoreTests {
    /// Runs statements one by one while there is no connection to the scratch database.
    private func administer(_ statements: [String]) async throws {
        let session = Postgres.Session(
            url: try TestCluster.url, applicationName: "restore test",
            statementDeadline: .seconds(60))
        try await session.run { connection in
            for statement in statements {
                try connection.execute(statement)
            }
        }
        await session.close()
    }

    /// Terminates all connections to a database.
    private func disconnect(_ name: String) -> String {
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'"
    }

    /// Signs sizes 10 and 19 with a backup at 10, restores it, and runs a body with both.
    private func withRestored(
        _ body: (ScratchDatabase, SealingFixture) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            let name = database.name
            try await SealingFixture.with(database) { fixture in
                try await SequencerFixture.with(database) { ledger in
                    var story = Story(ledger.sequencer)
                    try await story.people(0..<3)
                    try await fixture.sealOnce()
                }
                try await administer([
                    disconnect(name), "CREATE DATABASE \(name)_backup TEMPLATE \(name)",
                ])
                try await SequencerFixture.with(database) { ledger in
                    var story = Story(ledger.sequencer, seed: 2)
                    try await story.people(3..<6)
                    try await fixture.sealOnce()
                }
                try await administer([
                    disconnect(name), "ALTER DATABASE \(name) RENAME TO \(name)_lost",
                    disconnect("\(name)_backup"),
                    "ALTER DATABASE \(name)_backup RENAME TO \(name)",
                ])
                do {
                    try await body(database, fixture)
                } catch {
                    try? await administer(["DROP DATABASE \(name)_lost WITH (FORCE)"])
                    throw error
                }
                try await administer(["DROP DATABASE \(name)_lost WITH (FORCE)"])
            }
        }
    }

    @Test func `a database restored from a backup is not signed, however it grows`()
        async throws
    {
        try await withRestored { database, fixture in
            let round = try await fixture.sealOnce()
            #expect(round.refusals == [.default: .logTruncated(size: 10, signed: 19)])
            try await SequencerFixture.with(database) { ledger in
                var story = Story(ledger.sequencer, seed: 3)
                try await story.people(20..<22)
                let shorter = try await fixture.sealOnce()
                #expect(shorter.refusals == [.default: .logTruncated(size: 16, signed: 19)])
                try await story.people(22..<30)
                let longer = try await fixture.sealOnce()
                #expect(longer.refusals == [.default: .hashesTruncated(signed: 19)])
            }
            #expect(try await fixture.checkpoints().map(\.size) == [10])
            #expect(try fixture.record.lastSigned(of: .default)?.checkpoint.size == 19)
        }
    }

    @Test func `a sealer that runs during the restore notices it`() async throws {
        try await ScratchDatabase.with { database in
            try await SealingFixture.with(database) { fixture in
                try await SequencerFixture.with(database) { ledger in
                    var story = Story(ledger.sequencer)
                    try await story.people(0..<3)
                    let store = fixture.store()
                    var sealing = LogSealing(store: store, record: fixture.record)
                    #expect(try await sealing.round().publishedCount == 1)
                    try await fixture.tamper(
                        """
                        DELETE FROM events WHERE position >= 7;
                        UPDATE ledger_head SET next_position = 7, mac = NULL
                        """)
                    #expect(
                        try await sealing.round().refusals
                            == [.default: .logTruncated(size: 7, signed: 10)])
                    // Longer again, with other events at the positions of signed ones.
                    try await story.people(10..<20)
                    let round = try await sealing.round()
                    guard case .contradicts(let finding) = round.refusals[.default] else {
                        Issue.record("signed: \(round)")
                        return
                    }
                    #expect(finding.position == 7)
                    await store.release()
                    await store.close()
                }
                let finding = try #require(try await fixture.audit())
                #expect(finding.position == 7)
                #expect((finding.after, finding.before ?? 0) == (0, 10))
            }
        }
    }

    @Test func `after an accepted restore the log continues under a new name and key`() async throws
    {
        try await withRestored { database, fixture in
            #expect(try await fixture.sealOnce().publishedCount == 0)
            let origin = try fixture.record.beginNewOrigin(of: .default)
            #expect(origin.description == SealingFixture.origin + "/2")
            #expect(try fixture.record.beginNewOrigin(of: .default) == origin)
            #expect(try fixture.record.lastSigned(of: .default) == nil)
            try await SequencerFixture.with(database) { ledger in
                var story = Story(ledger.sequencer, seed: 3)
                try await story.people(20..<24)
                #expect(try await fixture.sealOnce().refusals.isEmpty)
                try await story.people(24..<25)
                #expect(try await fixture.sealOnce().publishedCount == 1)
            }
            let reads = fixture.reads()
            let all = try await fixture.checkpoints()
            #expect(all.map(\.size) == [10, 22, 25])
            #expect(Set(all.map(\.origin)) == [SealingFixture.origin, origin.description])
            #expect(try await reads.latestCheckpoint(of: .default)?.size == 25)
            #expect(try await reads.checkpointKeys(of: .default).count == 2)
            // The common part of both trees can be proved across the restore; the lost part can't.
            let proof = try await reads.consistency(from: 10, to: 25, in: .default).get()
            #expect(proof.old.origin == SealingFixture.origin)
            #expect(proof.new.origin == origin.description)
            let lost = try await reads.inclusion(
                of: LogPosition(3), in: .default, size: 19)
            #expect(lost == .failure(.sizeNotSigned(19)))
            await reads.close()
            #expect(try await fixture.audit() == nil)
        }
    }
}
