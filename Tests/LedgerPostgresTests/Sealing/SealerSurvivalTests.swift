import Foundation
import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing
import TransparencyLog

@testable import LedgerEngine
@testable import LedgerPostgres

/// A sealer that ends at any step, several sealers, and the value of their record afterwards.
@Suite struct SealerSurvivalTests {
    private static let blockedSealer = Statement(
        "blocked_sealer",
        """
        SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE NOT l.granted AND a.datname = current_database()
            AND a.application_name = 'test sealer'
        """)

    /// Runs one pass of a process that crashes; its lease remains, like that of a dead process.
    private func sealUntilCrash(_ fixture: SealingFixture, _ crash: Crash) async throws {
        let store = fixture.store()
        var limits = SealingLimits()
        limits.pageMax = 3
        limits.signedMax = 5
        var sealing = LogSealing(
            store: CrashingStore(store: store, crash: crash),
            record: CrashingRecord(record: fixture.record, crash: crash), limits: limits)
        while let round = try? await sealing.round(), round.hasMore {}
        // Another process could not acquire the log before the lease has lapsed.
        await store.release()
        await store.close()
    }

    @Test(arguments: [false, true])
    func `after a crash at any step the next sealer contradicts no signature`(
        isAfter: Bool
    ) async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<4)
            try await fixture.sealOnce()
            var step = 0
            var crash: Crash
            repeat {
                step += 1
                try await story.people((step * 10)..<(step * 10 + 4))
                crash = Crash(at: step, isAfter: isAfter)
                try await sealUntilCrash(fixture, crash)
                // The dead process may have published what it recorded.
                let signed = try fixture.record.lastSigned(of: .default)?.checkpoint.size ?? 0
                let round = try await fixture.sealOnce()
                #expect(round.refusals.isEmpty, "step \(step)")
                let size = Int64(try await fixture.entries().count)
                #expect(round.signed == [.default: size], "step \(step)")
                #expect(try await fixture.checkpoints().contains { $0.size == signed })
            } while crash.steps >= step
            #expect(step > 20, "there were only \(step) steps")
            #expect(try await fixture.audit() == nil)
            try await expectConsistent(fixture)
        }
    }

    /// Checks that every published checkpoint continues the one before it.
    private func expectConsistent(_ fixture: SealingFixture) async throws {
        let reads = fixture.reads()
        var last: SignedCheckpoint?
        for checkpoint in try await fixture.checkpoints() {
            if let last {
                let proof = try await reads.consistency(
                    from: last.size, to: checkpoint.size, in: .default
                ).get()
                #expect(proof.new == checkpoint)
            }
            last = checkpoint
        }
        await reads.close()
    }

    @Test func `a log belongs to one sealer until it releases it`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            let stores = [fixture.store(), fixture.store()]
            var sealings = stores.map { LogSealing(store: $0, record: fixture.record) }
            #expect(try await sealings[0].round().logs.first?.isHeld == true)
            let second = try await sealings[1].round()
            #expect(second.logs.first?.isHeld == false)
            #expect(second.publishedCount == 0)
            await stores[0].release()
            try await story.people(2..<4)
            // The sealer that has lost it writes nothing, whatever it knows.
            let late = try await stores[0].logState(of: .default).hashCount
            await #expect(throws: SealerFault.notHeld) {
                try await stores[0].append([.emptyRoot], from: late, of: .default)
            }
            let third = fixture.store()
            var sealing = LogSealing(store: third, record: fixture.record)
            #expect(try await sealing.round().publishedCount == 1)
            for store in stores + [third] { await store.close() }
        }
    }

    @Test func `a lease lapses unless it is renewed, also when the clock was set back`()
        async throws
    {
        try await SealingFixture.with { fixture, ledger in
            let first = fixture.store()
            #expect(try await first.logs(without: []).first?.isHeld == true)
            for expiry in [
                "clock_timestamp() - interval '1 s'", "clock_timestamp() + interval '1 h'",
            ] {
                try await fixture.database.asSuperuser.execute(
                    "UPDATE sealer_leases SET expires_at = \(expiry)")
                let next = fixture.store()
                #expect(try await next.logs(without: []).first?.isHeld == true)
                await next.close()
            }
            await first.close()
        }
    }

    @Test func `a lease taken while another sealer waited for its row stays with its holder`()
        async throws
    {
        try await SealingFixture.with { fixture, _ in
            let store = fixture.store()
            #expect(try await store.logs(without: []).first?.isHeld == true)
            let other = Session(
                url: fixture.database.superuserURL, applicationName: "other sealer")
            async let takeover: Void = other.run { connection in
                try connection.execute(
                    """
                    UPDATE sealer_leases SET holder = gen_random_uuid(),
                        expires_at = clock_timestamp() - interval '1 s'
                    """)
                try connection.execute("BEGIN; SELECT FROM sealer_leases FOR UPDATE")
                let start = ContinuousClock.now
                while try connection.query(Self.blockedSealer).rowCount == 0 {
                    guard ContinuousClock.now - start < .seconds(120) else { return }
                    // A transaction sees the same connections until then.
                    try connection.execute("SELECT pg_stat_clear_snapshot()")
                }
                try connection.execute(
                    """
                    UPDATE sealer_leases SET expires_at = clock_timestamp() + interval '5 s';
                    COMMIT
                    """)
            }
            try await eventually("the row is locked") {
                try await fixture.database.asSuperuser.texts(
                    """
                    SELECT state FROM pg_stat_activity WHERE datname = current_database()
                        AND application_name = 'other sealer' AND backend_xid IS NOT NULL
                        AND xact_start < query_start
                    """
                ).isEmpty ? nil : true
            }
            let waiting = fixture.store()
            let logs = try await waiting.logs(without: [])
            try await takeover
            #expect(logs.first?.isHeld == false)
            await other.close()
            await waiting.close()
            await store.close()
        }
    }

    @Test func `hashes are stored only where they continue the stored ones`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.sealOnce()
            let store = fixture.store()
            _ = try await store.logs(without: [])
            let end = try await store.logState(of: .default).hashCount
            for index in [end - 1, end + 1, 0] {
                await #expect(throws: SealerFault.notHeld) {
                    try await store.append([.emptyRoot], from: index, of: .default)
                }
            }
            #expect(try await store.logState(of: .default).hashCount == end)
            await store.close()
        }
    }

    @Test func `a record that another sealer has advanced is not set back`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.sealOnce()
            let old = try #require(try fixture.record.lastSigned(of: .default))
            try await story.people(2..<4)
            try await fixture.sealOnce()
            let new = try #require(try fixture.record.lastSigned(of: .default))
            #expect(throws: SealerRecordFault.outdated) {
                try fixture.record.write(old, after: nil, of: .default)
            }
            #expect(throws: SealerRecordFault.outdated) {
                try fixture.record.write(old, after: new.checkpoint, of: .default)
            }
            #expect(try fixture.record.lastSigned(of: .default) == new)
            let other = LastSigned(
                checkpoint: Checkpoint(
                    origin: new.checkpoint.origin, size: new.checkpoint.size, root: .emptyRoot),
                note: new.note)
            #expect(throws: SealerRecordFault.outdated) {
                try fixture.record.write(other, after: new.checkpoint, of: .default)
            }
            #expect(try fixture.record.lastSigned(of: .default) == new)
        }
    }

    @Test func `keys are created only for a log that was never sealed`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.sealOnce()
            let files = FileManager.default
            let directory = fixture.path + "/default"
            let key = try #require(
                try files.contentsOfDirectory(atPath: directory).first { $0.hasSuffix(".key") })
            try await story.people(2..<4)

            // All files are gone: the checkpoints in the database show that there was a record.
            try files.moveItem(atPath: directory, toPath: fixture.path + "/aside")
            #expect(
                try await fixture.sealOnce().refusals[.default]?.description.contains("restore it")
                    == true)
            #expect(!files.fileExists(atPath: directory))
            try files.moveItem(atPath: fixture.path + "/aside", toPath: directory)

            // Only the key is gone.
            try files.moveItem(atPath: directory + "/" + key, toPath: fixture.path + "/key")
            #expect(
                try await fixture.sealOnce().refusals[.default]?.description.contains("restore it")
                    == true)
            try files.moveItem(atPath: fixture.path + "/key", toPath: directory + "/" + key)

            // The last signature is gone, and the database has it.
            try files.moveItem(
                atPath: directory + "/last-signed", toPath: fixture.path + "/last")
            #expect(
                try await fixture.sealOnce().refusals[.default]?.description.contains(
                    "has none of them") == true)
            // A record older than the database.
            try files.moveItem(
                atPath: fixture.path + "/last", toPath: directory + "/last-signed")
            try files.copyItem(
                atPath: directory + "/last-signed", toPath: fixture.path + "/older")
            #expect(try await fixture.sealOnce().publishedCount == 1)
            try files.removeItem(atPath: directory + "/last-signed")
            try files.moveItem(
                atPath: fixture.path + "/older", toPath: directory + "/last-signed")
            try await story.people(4..<5)
            #expect(
                try await fixture.sealOnce().refusals[.default]?.description.contains("ends at")
                    == true)
        }
    }

    @Test func `a note without a signature of the keys beside it is refused`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.sealOnce()
            let path = fixture.path + "/default/last-signed"
            let note = try String(contentsOfFile: path, encoding: .utf8)
            let forged = note.replacing("\n7\n", with: "\n6\n")
            #expect(forged != note)
            let directory = FileHandle(forUpdatingAtPath: path)
            try directory?.truncate(atOffset: 0)
            try directory?.write(contentsOf: Data(forged.utf8))
            try directory?.close()
            #expect(
                try await fixture.sealOnce().refusals[.default]?.description
                    .contains("not signed by the keys") == true)
        }
    }
}
