import Foundation
import Ledger
import LedgerTestSupport
import Testing
import TransparencyLog

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// The events lost and data brought back by a restore, and how the ledger continues.
@Suite struct RestoreTests {
    @Test func `a complete log is reported as complete`() async throws {
        try await with { fixture, sealing in
            await #expect(throws: SealerRecordFault.self, "no directory, no answer") {
                try await check(sealing)
            }
            try await sealing.sealOnce()
            let report = try await check(sealing)
            #expect(report.isWhole && report.signed?.checkpoint.size == report.size)
            let last = try await sealing.database.asSuperuser.texts(
                "SELECT (extract(epoch FROM max(recorded_at)) * 1000000)::bigint::text FROM events")
            #expect(report.lastRecordedAt.map { "\($0.microseconds)" } == last.first)
            var story = fixture.story
            _ = try await story.signIn("apple", "later")
            #expect(try await check(sealing).isWhole, "the unsigned end is no loss")
        }
    }

    @Test(arguments: [false, true])
    func `a restore is accepted under another name, and repeats the erasures it undid`(
        hasGrown: Bool
    ) async throws {
        try await with { fixture, sealing in
            var story = fixture.story
            guard case .holdSet(let hold) = try await story.hold(fixture.ada.account).get() else {
                throw Unexpected(what: "no hold")
            }
            try await sealing.sealOnce()
            try await fixture.database.backUp()
            _ = try await story.lift(hold, of: fixture.ada.account).get()
            _ = try await story.erase(fixture.ada.account).get()
            _ = try await story.signIn("apple", "lost")
            try await fixture.settle()
            try await sealing.sealOnce()
            let signed = try #require(try await check(sealing).signed)

            try await fixture.database.restore()
            if hasGrown {
                for number in 0..<4 { _ = try await story.signIn("apple", "new-\(number)") }
            }
            let refused = try await sealing.sealOnce()
            #expect(refused.refusals[.default] != nil, "the sealer signs nothing over it")
            let report = try await check(sealing)
            #expect(report.loss == (hasGrown ? .contents : .end))
            #expect(report.returned.map(\.account) == [fixture.ada.account])
            #expect(report.returned.first?.formerHolds == [hold])
            #expect(report.returned.first?.newHolds == [])

            let fact = try #require(report.fact)
            #expect(fact.origin == 2 && fact.size == signed.checkpoint.size)
            for intent in [.recordRestore(RecordRestore(fact))] + report.erasures {
                _ = try await story.submit(intent).get()
            }
            // A crash here is repaired by the next run, which records nothing twice.
            let again = try await check(sealing)
            #expect(again.loss != nil && again.fact == nil && again.returned.isEmpty)
            let origin = try sealing.record.beginNewOrigin(of: .default)
            #expect(origin.description == SealingFixture.origin + "/2")

            try await fixture.settle()
            for text in ErasureFixture.adasData.dropLast(2) {
                #expect(try await fixture.database.tables(holding: text) == [], "\(text) is back")
            }
            let round = try await sealing.sealOnce()
            #expect(round.refusals.isEmpty, "\(round.refusals)")
            #expect(try await check(sealing).isWhole)
            let verified = try await fixture.verify()
            #expect(verified.holds, "\(verified.findings)")
        }
    }

    @Test func `the directory of another sealer is refused`() async throws {
        try await with { _, sealing in
            try await sealing.sealOnce()
            try await SealingFixture.with(sealing.database) { other in
                // It exists, and is empty.
                try FileManager.default.createDirectory(
                    atPath: other.path, withIntermediateDirectories: true)
                await #expect(throws: SealerRecordFault.self) { try await check(other) }
            }
        }
    }

    /// How the ledger continues between the first restore and the second one.
    @Test(arguments: [false, true])
    func `the same backup restored twice is noticed twice`(hasGrown: Bool) async throws {
        try await with { fixture, sealing in
            var story = fixture.story
            try await sealing.sealOnce()
            try await fixture.database.backUp()
            _ = try await story.signIn("apple", "lost")
            try await sealing.sealOnce()
            for _ in 0..<2 {
                try await fixture.database.restore(keepsBackup: true)
                if hasGrown {
                    for number in 0..<4 { _ = try await story.signIn("apple", "new-\(number)") }
                }
                let report = try await check(sealing)
                #expect(report.loss == (hasGrown ? .contents : .end))
                let fact = try #require(report.fact)
                #expect(fact.origin == 2, "nothing was signed under it yet")
                _ = try await story.submit(.recordRestore(RecordRestore(fact))).get()
                let origin = try sealing.record.beginNewOrigin(of: .default)
                #expect(origin.description == SealingFixture.origin + "/2")
                #expect(try await check(sealing).isWhole)
            }
            #expect(try await sealing.sealOnce().refusals.isEmpty)
            #expect(try await fixture.verify().holds)
        }
    }

    @Test func `a log name without an event makes the log incomplete`() async throws {
        try await with { fixture, sealing in
            try await sealing.sealOnce()
            // The database returned complete after the loss had been accepted.
            _ = try sealing.record.beginNewOrigin(of: .default)
            let report = try await check(sealing)
            #expect(report.loss == .statement && !report.isWhole)
            let fact = try #require(report.fact)
            var story = fixture.story
            _ = try await story.submit(.recordRestore(RecordRestore(fact))).get()
            #expect(try await check(sealing).isWhole)
        }
    }

    /// Rows that the serving login adds: above everything, below it, and at the next size.
    @Test(arguments: [1_000, 1, 0])
    func `checkpoints without a valid signature end a name, and the log continues under another`(
        size: Int
    ) async throws {
        try await with { fixture, sealing in
            var story = fixture.story
            try await sealing.sealOnce()
            _ = try await story.signIn("apple", "later")
            let end = try await check(sealing).size
            // Also under the next name, which can be guessed.
            for origin in [SealingFixture.origin, SealingFixture.origin + "/2"] {
                try await fixture.database.asRuntime.execute(
                    """
                    INSERT INTO checkpoints SELECT tenant_id, '\(origin)',
                        \(size == 0 ? Int(end) : size), root, note, 'infinity'
                    FROM checkpoints WHERE tenant_id = 'default' AND origin = '\(SealingFixture.origin)'
                    ORDER BY size DESC LIMIT 1
                    """)
            }
            for number in [Int64(2), 3] {
                let report = try await check(sealing)
                #expect(report.loss == .name && report.nextOrigin == number)
                let fact = try #require(report.fact)
                _ = try await story.submit(.recordRestore(RecordRestore(fact))).get()
                for _ in 0..<2 {
                    let origin = try sealing.record.beginNewOrigin(of: .default, number: number)
                    #expect(origin.description == "\(SealingFixture.origin)/\(number)")
                }
            }
            #expect(try await check(sealing).isWhole)
            let round = try await sealing.sealOnce()
            #expect(round.refusals.isEmpty && round.publishedCount == 1, "\(round.refusals)")
            #expect(try await check(sealing).isWhole)
            #expect(try await sealing.audit() == nil)
            let latest = try await sealing.reads().latestCheckpoint(of: .default)
            #expect(latest?.origin == SealingFixture.origin + "/3")
        }
    }

    @Test func `a restored person under a hold is not erased again`()
        async throws
    {
        try await with { fixture, sealing in
            var story = fixture.story
            try await fixture.database.backUp()
            _ = try await story.erase(fixture.ada.account).get()
            try await fixture.settle()
            try await sealing.sealOnce()
            try await fixture.database.restore()
            let later = Timestamp(seconds: 10_000_000_000)
            _ = try await story.hold(fixture.ada.account, madeAt: later).get()
            let report = try await check(sealing)
            #expect(report.returned.first?.newHolds.count == 1)
            #expect(report.returned.first?.formerHolds == [])
            #expect(report.erasures.isEmpty)
        }
    }

    @Test func `merged accounts are erased again together, or kept by a hold on one of them`()
        async throws
    {
        try await with { fixture, sealing in
            var story = fixture.story
            let (ada, bob) = (fixture.ada.account, fixture.bob.account)
            _ = try await Self.merge(bob, into: ada, &story)
            // The erasure of the first one covers it.
            let last = max(ada, bob)
            guard case .holdSet(let hold) = try await story.hold(last).get() else {
                throw Unexpected(what: "no hold")
            }
            try await sealing.sealOnce()
            try await fixture.database.backUp()
            _ = try await story.lift(hold, of: last).get()
            _ = try await story.erase(ada).get()
            try await fixture.settle()
            try await sealing.sealOnce()

            try await fixture.database.restore(keepsBackup: true)
            let report = try await check(sealing)
            #expect(report.returned.map(\.account) == [ada, bob].sorted())
            let fact = try #require(report.fact)
            for intent in [.recordRestore(RecordRestore(fact))] + report.erasures {
                _ = try await story.submit(intent).get()
            }
            #expect(try await check(sealing).returned.isEmpty)

            try await fixture.database.restore()
            _ = try await story.hold(last, madeAt: Timestamp(seconds: 10_000_000_000)).get()
            let held = try await check(sealing)
            #expect(held.returned.map(\.newHolds.count) == [1, 1])
            #expect(held.erasures.isEmpty)
        }
    }

    @Test func `an erasure is not repeated on an account from which the erased one was separated`()
        async throws
    {
        try await with { fixture, sealing in
            var story = fixture.story
            let (ada, bob) = (fixture.ada.account, fixture.bob.account)
            let merge = try await Self.merge(bob, into: ada, &story)
            try await sealing.sealOnce()
            try await fixture.database.backUp()
            _ = try await story.submit(
                UnmergeAccounts(
                    merge: merge, survivor: ada, absorbed: bob, actor: .system, reason: "two",
                    caseReference: "2", isPreview: false
                ).intent
            ).get()
            _ = try await story.erase(bob).get()
            try await fixture.settle()
            try await sealing.sealOnce()

            try await fixture.database.restore()
            let report = try await check(sealing)
            #expect(report.returned.map(\.account) == [bob])
            #expect(report.returned.map(\.unerased) == [[ada]])
            #expect(report.erasures.isEmpty && !report.isAccepted)
        }
    }

    /// Merges an account into another one and returns the id of the event.
    private static func merge(
        _ absorbed: AccountID, into survivor: AccountID, _ story: inout Story
    ) async throws -> EventID {
        var agreed: Digest?
        while true {
            let intent = MergeFixture.intent(absorbed, into: survivor, keeping: [], agreed: agreed)
            switch try await story.submit(intent.intent).get() {
            case .mergePlanned(_, let digest) where agreed == nil: agreed = digest
            case .merged(_, let event?): return event
            case let other: throw Unexpected(what: "not merged: \(other)")
            }
        }
    }

    private func with(
        _ body: @Sendable (ErasureFixture, SealingFixture) async throws -> Void
    ) async throws {
        try await ErasureFixture.with(owner: .plain) { fixture in
            try await SealingFixture.with(fixture.database) { sealing in
                try await body(fixture, sealing)
            }
        }
    }

    private func check(_ sealing: SealingFixture) async throws -> RestoreReport {
        try await sealing.database.asSuperuser.with { connection in
            try RestoreCheck(of: .default, with: sealing.record).run(on: connection)
        }
    }
}

extension ScratchDatabase {
    /// Copies every table, as a backup would.
    func backUp() async throws {
        try await asSuperuser.execute(
            """
            CREATE SCHEMA backup;
            DO $$ DECLARE place text; BEGIN
                FOR place IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                    EXECUTE format('CREATE TABLE backup.%I AS TABLE public.%I', place, place);
                END LOOP;
            END $$
            """)
    }

    /// Restores every table from the copies, and drops the backup.
    func restore(keepsBackup: Bool = false) async throws {
        try await asSuperuser.execute(
            """
            DO $$ DECLARE place text; BEGIN
                FOR place IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
                    EXECUTE format('ALTER TABLE public.%I DISABLE TRIGGER USER', place);
                    EXECUTE format('DELETE FROM public.%I', place);
                    EXECUTE format('INSERT INTO public.%I SELECT * FROM backup.%I', place, place);
                    EXECUTE format('ALTER TABLE public.%I ENABLE TRIGGER USER', place);
                END LOOP;
            END $$;
            \(keepsBackup ? "" : "DROP SCHEMA backup CASCADE")
            """)
    }
}
