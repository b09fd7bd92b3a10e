import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// Several projectors on one database, and events that cannot be folded.
@Suite struct ProjectorSharingTests {
    @Test func `two projectors fold every event once`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let projectors = [7, 11].map { database.projector(batch: $0) }
                var story = Story(fixture.sequencer)
                let running = Task {
                    await withDiscardingTaskGroup { group in
                        for projector in projectors {
                            group.addTask { await projector.run() }
                        }
                    }
                }
                for round in 0..<40 {
                    let person = try await story.signIn("apple", "person-\(round)", email: "a@b.c")
                    try await story.link(person, "google", "person-\(round)")
                    if round % 2 == 0 { try await story.unlink(person, "apple") }
                    for projector in projectors { projector.wake() }
                }
                try await eventually("everything is folded") {
                    try await projectors[0].status().allSatisfy { $0.lag == 0 }
                }
                running.cancel()
                await running.value
                try await expectComplete(database)
            }
        }
    }

    /// Verifies every row against the log: no duplicates and no omissions.
    private func expectComplete(_ database: ScratchDatabase) async throws {
        let report = try await Verifier(
            url: database.superuserURL, keyring: SequencerFixture.keyring
        ).run()
        #expect(report.holds, "\(report.findings)")
        let audited = try await database.rows("count(*)::text]) FROM account_audit")
        let events = try await database.rows(
            "count(*)::text]) FROM events WHERE account_id IS NOT NULL")
        #expect(audited == events)
    }

    @Test func `a lane finds and creates the checkpoints of its own projections only`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                try await database.asSuperuser.execute("DELETE FROM projections")
                let session = Session(url: database.runtimeURL, applicationName: "a test")
                var lanes = [Set(ProjectionName.allCases), [.conflicts]]
                lanes[0].remove(.conflicts)
                var made: Set<String> = []
                for lane in lanes {
                    let backlogs = try await session.run {
                        try Checkpoints.backlogs(of: lane, on: $0)
                    }
                    #expect(backlogs.map(\.tenant) == [.default])
                    #expect(Set(backlogs.flatMap(\.tables).map(\.table.projection)) == lane)
                    made.formUnion(lane.map(\.rawValue))
                    let names = try await database.asSuperuser.texts("SELECT name FROM projections")
                    #expect(names.sorted() == made.sorted())
                }
                await session.close()
            }
        }
    }

    @Test func `a projector survives the loss of its connection`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let projector = database.projector(batch: 3)
                let running = Task { await projector.run() }
                var story = Story(fixture.sequencer)
                for round in 0..<20 {
                    _ = try await story.signIn("apple", "person-\(round)")
                    projector.wake()
                    try await database.asSuperuser.execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                        WHERE datname = current_database()
                            AND application_name = 'account-ledger projector'
                        """)
                }
                try await eventually("everything is folded") {
                    try await database.projector().status().allSatisfy { $0.lag == 0 }
                }
                running.cancel()
                await running.value
                try await expectComplete(database)
            }
        }
    }

    @Test func `a poisoned event stops only its projection and names its position`()
        async throws
    {
        let acme = tenant("acme")
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                try await fixture.open(acme)
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                try await story.link(ada, "google", "ada")
                // A row that the log does not give: the link at position 4 cannot be inserted.
                try await database.asSuperuser.execute(
                    """
                    INSERT INTO user_providers SELECT tenant_id, account_id, provider, provider_id,
                        NULL, identity_id, linked_at, linked_position
                    FROM identities WHERE provider = 'google'
                    """)
                var other = Story(fixture.sequencer, tenant: acme, seed: 2)
                _ = try await other.signIn("apple", "ada")
                _ = try await story.signIn("apple", "bob")
                try await database.fold()

                let status = try await database.projector().status()
                let stopped = status.filter { $0.failure != nil }
                #expect(stopped.map(\.tenant) == [.default])
                #expect(stopped.map(\.projection) == [.userProviders])
                #expect(stopped.first?.position == LogPosition(4))
                #expect(stopped.first?.failure?.hasPrefix("position 4: ") == true)
                #expect(status.filter { $0.failure == nil }.allSatisfy { $0.lag == 0 })

                // With the cause gone, a restart tries again and continues.
                try await database.asSuperuser.execute(
                    "DELETE FROM user_providers WHERE provider = 'google'")
                let projector = database.projector()
                let running = Task { await projector.run() }
                try await eventually("the projection continues") {
                    try await projector.status().allSatisfy { $0.lag == 0 && $0.failure == nil }
                }
                running.cancel()
                await running.value
                try await expectComplete(database)
            }
        }
    }

    @Test func `an unreadable entry stops the events after it, not those before`()
        async throws
    {
        try await ScratchDatabase.with(owner: .plain) { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                try await story.link(ada, "google", "ada")
                try await database.asSuperuser.execute(
                    """
                    ALTER TABLE events DISABLE TRIGGER USER;
                    UPDATE events SET entry = '\\xdeadbeef' WHERE position = 4
                    """)
                try await database.fold()
                let status = try await database.projector().status()
                #expect(status.count == ProjectionName.allCases.count)
                for projection in status {
                    #expect(projection.position == LogPosition(4))
                    #expect(projection.failure?.hasPrefix("position 4: the entry") == true)
                    #expect(projection.secondsBehind > 0)
                }
                #expect(try await database.userProviders() == ["apple|ada|-"])
            }
        }
    }
}
