import Ledger
import LedgerTestSupport
import Synchronization
import Testing
import TransparencyLog

@testable import LedgerEngine
@testable import LedgerPostgres

/// The sealer running beside a sequencer.
@Suite struct SealerTests {
    private final class Alarms: Sendable {
        private let all = Mutex<[SealingRefusal]>([])

        var refusals: [SealingRefusal] { all.withLock(\.self) }

        func add(_ refusal: SealingRefusal) {
            all.withLock { $0.append(refusal) }
        }
    }

    /// A record on a full disk.
    private struct FullRecord: SealerRecord {
        let record: any SealerRecord

        func tenants() throws(SealerRecordFault) -> [TenantID] { try record.tenants() }

        func logState(
            of tenant: TenantID, mayBegin: Bool
        ) throws(SealerRecordFault) -> SealerLogRecord {
            try record.logState(of: tenant, mayBegin: mayBegin)
        }

        func write(
            _ signed: LastSigned, after previous: Checkpoint?, of tenant: TenantID
        ) throws(SealerRecordFault) {
            throw .damaged("no space left")
        }

        func add(_ erasures: [SeenErasure], of tenant: TenantID) throws(SealerRecordFault) {}
    }

    private func sealer(
        _ fixture: SealingFixture, _ alarms: Alarms, record: (any SealerRecord)? = nil,
        behindMax: Duration = .seconds(30),
        onFault: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Sealer {
        var configuration = SealerConfiguration()
        configuration.pause = .milliseconds(5)
        configuration.poll = .milliseconds(20)
        configuration.refusalPause = .milliseconds(50)
        configuration.auditPause = .zero
        configuration.recordInterval = .milliseconds(20)
        configuration.auditRest = .milliseconds(50)
        configuration.behindMax = behindMax
        return Sealer(
            url: fixture.database.runtimeURL, configuration: configuration,
            record: record ?? fixture.record,
            macs: SequencerFixture.keyring.macs, onFault: onFault,
            onRefusal: { alarms.add($1) })
    }

    /// Changes one signed entry.
    private static let change = """
        UPDATE events SET entry = convert_to(replace(convert_from(entry, 'UTF8'),
            '"provider":"apple"', '"provider":"zpple"'), 'UTF8') WHERE position = 5
        """

    private func signed(_ sealer: Sealer) -> Int64 {
        sealer.statuses.first { $0.tenant == .default }?.signed ?? 0
    }

    @Test func `commits are signed as they come, and audited`() async throws {
        try await SealingFixture.with { fixture, ledger in
            let alarms = Alarms()
            let sealer = sealer(fixture, alarms)
            let running = Task { await sealer.run() }
            var story = Story(ledger.sequencer)
            for round in 0..<5 {
                try await story.people((round * 2)..<(round * 2 + 2))
                sealer.wake()
                let size = Int64(round * 6 + 7)
                try await eventually("size \(size) is signed") { signed(sealer) == size }
            }
            try await eventually("the audit has covered the whole log") {
                sealer.statuses.first?.audited == 31
            }
            #expect(sealer.isAlive())
            #expect(sealer.checkpointCount >= 5)
            running.cancel()
            await running.value
            #expect(alarms.refusals.isEmpty)
            // The lease was released.
            let leases = try await fixture.database.rows(
                "count(*)::text]) FROM sealer_leases")
            #expect(leases == ["0"])
        }
    }

    @Test func `a changed log is signed again once it is restored`() async throws {
        try await SealingFixture.with { fixture, ledger in
            let alarms = Alarms()
            let sealer = sealer(fixture, alarms)
            let running = Task { await sealer.run() }
            var story = Story(ledger.sequencer)
            try await story.people(0..<4)
            sealer.wake()
            try await eventually("size 13 is signed") { signed(sealer) == 13 }
            try await fixture.tamper(
                """
                CREATE TABLE aside AS SELECT position, entry FROM events WHERE position = 5;
                \(Self.change)
                """)
            try await eventually("the change is found") {
                sealer.statuses.first?.refusal != nil
            }
            guard case .contradicts(let finding) = sealer.statuses.first?.refusal else {
                Issue.record("found something else: \(sealer.statuses)")
                return
            }
            #expect(finding.position == 5)
            try await story.people(4..<6)
            sealer.wake()
            try await eventually("the sealer has seen the longer log") {
                sealer.statuses.first?.size == 19
            }
            #expect(signed(sealer) == 13)
            #expect(try await fixture.checkpoints().last?.size == 13)
            try await fixture.tamper(
                "UPDATE events e SET entry = a.entry FROM aside a WHERE e.position = a.position")
            try await eventually("size 19 is signed") { signed(sealer) == 19 }
            #expect(alarms.refusals.count == 1)
            running.cancel()
            await running.value
        }
    }

    @Test func `acquiring the lease does not hide a finding`() async throws {
        try await SealingFixture.with { fixture, ledger in
            let sealer = sealer(fixture, Alarms())
            let running = Task { await sealer.run() }
            var story = Story(ledger.sequencer)
            try await story.people(0..<4)
            sealer.wake()
            try await eventually("size 13 is signed") { signed(sealer) == 13 }
            try await fixture.tamper(Self.change)
            try await eventually("the change is found") {
                sealer.statuses.first?.refusal != nil
            }
            // As a holder of the serving login may do, again and again.
            try await fixture.database.asSuperuser.execute(
                """
                CREATE FUNCTION taken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    NEW.holder := '00000000-0000-7000-8000-000000000001'; RETURN NEW; END $$;
                CREATE TRIGGER taken BEFORE INSERT OR UPDATE ON sealer_leases
                    FOR EACH ROW EXECUTE FUNCTION taken();
                UPDATE sealer_leases SET expires_at = expires_at
                """)
            try await eventually("the lease is gone") { sealer.statuses.first?.isHeld == false }
            #expect(sealer.statuses.first?.refusal != nil)
            running.cancel()
            await running.value
        }
    }

    @Test func `a sealer that cannot write its record leaves the log to another one`() async throws
    {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            let full = sealer(fixture, Alarms(), record: FullRecord(record: fixture.record))
            let first = Task { await full.run() }
            try await eventually("the record is found full") {
                full.statuses.first?.refusal != nil
            }
            let sealer = sealer(fixture, Alarms())
            let second = Task { await sealer.run() }
            try await eventually("size 7 is signed") { signed(sealer) == 7 }
            try await eventually("the first sees that it is signed") { signed(full) == 7 }
            for running in [first, second] {
                running.cancel()
                await running.value
            }
        }
    }

    @Test func `a log that another sealer is about to start is no fault`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.database.asSuperuser.execute(
                """
                INSERT INTO sealer_leases (tenant_id, holder, expires_at)
                VALUES ('default', gen_random_uuid(), clock_timestamp() + interval '1 s')
                """)
            let faults = Mutex<[String]>([])
            let sealer = sealer(fixture, Alarms()) { fault in
                faults.withLock { $0.append(fault) }
            }
            let running = Task { await sealer.run() }
            // Not before the lease has lapsed.
            try await eventually("size 7 is signed") { signed(sealer) == 7 }
            running.cancel()
            await running.value
            #expect(faults.withLock(\.self) == [])
        }
    }

    @Test func `a log that is completely gone is reported`() async throws {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.sealOnce()
            try await fixture.tamper("DELETE FROM ledger_head; DELETE FROM sealer_leases")
            let alarms = Alarms()
            let sealer = sealer(fixture, alarms)
            let running = Task { await sealer.run() }
            try await eventually("the missing log is reported") {
                alarms.refusals == [.logTruncated(size: 0, signed: 7)]
            }
            running.cancel()
            await running.value
        }
    }

    @Test func `a row that the audit cannot read stops the log until it can be read`() async throws
    {
        try await SealingFixture.with { fixture, ledger in
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await fixture.sealOnce()
            try await story.people(2..<4)
            try await fixture.sealOnce()
            // The next pass depends on the largest checkpoint only.
            try await fixture.tamper(
                """
                CREATE TABLE aside AS TABLE checkpoints;
                ALTER EVENT TRIGGER ledger_guard_drop DISABLE;
                ALTER TABLE checkpoints DROP CONSTRAINT checkpoints_root_check;
                UPDATE checkpoints SET root = '\\x00' WHERE size = 7
                """)
            let alarms = Alarms()
            let sealer = sealer(fixture, alarms)
            let running = Task { await sealer.run() }
            try await eventually("the audit says that it can't read") {
                if case .databaseFails = sealer.statuses.first?.refusal { true } else { false }
            }
            try await fixture.tamper(
                "UPDATE checkpoints c SET root = a.root FROM aside a WHERE a.size = c.size")
            try await story.people(4..<5)
            try await eventually("size 16 is signed") { signed(sealer) == 16 }
            #expect(alarms.refusals.count == 1)
            running.cancel()
            await running.value
        }
    }

    @Test func `one of two sealers works, and the other takes over when it ends`() async throws {
        try await SealingFixture.with { fixture, ledger in
            let alarms = Alarms()
            let sealers = [sealer(fixture, alarms), sealer(fixture, alarms)]
            let tasks = sealers.map { sealer in Task { await sealer.run() } }
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await eventually("one of them signs") {
                sealers.contains { $0.checkpointCount > 0 && signed($0) == 7 }
            }
            let worker = sealers[0].checkpointCount > 0 ? 0 : 1
            #expect(sealers[1 - worker].checkpointCount == 0)
            tasks[worker].cancel()
            await tasks[worker].value
            try await story.people(2..<4)
            try await eventually("the other one signs") { signed(sealers[1 - worker]) == 13 }
            tasks[1 - worker].cancel()
            await tasks[1 - worker].value
            #expect(alarms.refusals.isEmpty)
        }
    }

    /// Forged by a login of a server: hashes that stop the holder of the lease, and a lease without a sealer.
    @Test(arguments: [
        "merkle_nodes VALUES ('default', 1000, decode(repeat('00', 32), 'hex'))",
        """
        sealer_leases VALUES ('default', gen_random_uuid(), statement_timestamp() + interval '4 s')
        ON CONFLICT (tenant_id) DO UPDATE
        SET holder = excluded.holder, expires_at = excluded.expires_at
        """,
    ])
    func `events that another process should sign wait, and no process is down`(row: String)
        async throws
    {
        try await SealingFixture.with { fixture, ledger in
            let faults = Mutex<[String]>([])
            let sealers = (0..<2).map { _ in
                sealer(fixture, Alarms(), behindMax: .milliseconds(300)) { fault in
                    faults.withLock { $0.append(fault) }
                }
            }
            let tasks = sealers.map { sealer in Task { await sealer.run() } }
            var story = Story(ledger.sequencer)
            try await story.people(0..<2)
            try await eventually("size 7 is signed") { sealers.allSatisfy { signed($0) == 7 } }
            try await fixture.database.asRuntime.execute("INSERT INTO \(row)")
            try await story.people(2..<3)
            try await eventually("the events wait in both") {
                sealers.allSatisfy { $0.statuses.first?.isStuck == true }
            }
            #expect(sealers.allSatisfy { $0.statuses.first?.isDown == false })
            #expect(sealers.contains { $0.statuses.first?.isHeld == false })
            try await eventually("a log says so") {
                faults.withLock { $0.contains { $0.contains("3 events of tenant default wait") } }
            }
            for task in tasks {
                task.cancel()
                await task.value
            }
        }
    }
}
