import Ledger
import LedgerEngine
import LedgerPostgres
import LedgerTestSupport
import Postgres
import Testing

/// A process that keeps running after a newer one has migrated.
@Suite struct NewerSchemaTests {
    private static let newer =
        "INSERT INTO ledger_migrations VALUES (999, 'V999_later.sql', '\\x00')"

    /// Records the position up to which the log was appended before the migration's commit.
    private static let later = Migration(
        version: Migration.embedded.count + 1, name: "V00X_later.sql",
        sql: Array("CREATE TABLE appended_before AS SELECT next_position FROM ledger_head".utf8))

    private static func migrate(
        _ database: ScratchDatabase, tableWaitMax: Duration = Migrator.tableWaitMax
    ) async throws {
        let migrator = Migrator(
            ownerURL: database.ownerURL, runtimeURL: database.runtimeURL,
            migrations: Migration.embedded + [later], tableWaitMax: tableWaitMax)
        _ = try await database.asSuperuser.run(migrator)
    }

    @Test func `under a newer schema nothing is appended, and the reason is reported once`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                _ = try await fixture.signIn(subject("apple", "ada"))
                let before = try await fixture.log().count
                try await database.asOwner.execute(Self.newer)
                let refused = await withTaskGroup(of: LedgerFault?.self) { group in
                    for number in 0..<32 {
                        group.addTask {
                            do {
                                _ = try await fixture.signIn(subject("apple", "s\(number % 3)"))
                                return nil
                            } catch {
                                return error as? LedgerFault
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                #expect(refused == Array(repeating: .unavailable, count: 32))
                #expect(fixture.sequencer.statistics.batchesSplit == 0)
                #expect(try await fixture.log().count == before)
                #expect(fixture.reportedFaults.count == 1)
                #expect(fixture.reportedFaults.first?.contains("version 999") == true)
                try await database.asOwner.execute(
                    "DELETE FROM ledger_migrations WHERE version = 999")
                _ = try await fixture.signIn(subject("apple", "ada"))
            }
        }
    }

    @Test func `under a newer schema no account is read, and no API key is accepted`() async throws
    {
        try await ScratchDatabase.with { database in
            let gate = AccessGate(url: database.runtimeURL) { _ in }
            let gating = Task { await gate.run() }
            let ended = Caller(account: AccountID(bits: 1), session: SessionID(bits: 2))
            try await `Account reads`.read(database) { reads in
                #expect(try await reads.identities(of: ended, in: .default).isRefused)
                #expect(try await gate.key(APIKeyID(bits: 3), in: .default) == nil)
                try await database.asOwner.execute(Self.newer)
                await #expect(throws: LedgerFault.unavailable) {
                    _ = try await reads.identities(of: ended, in: .default)
                }
                await #expect(throws: LedgerFault.unavailable) {
                    _ = try await gate.key(APIKeyID(bits: 3), in: .default)
                }
                await #expect(throws: LedgerFault.unavailable) {
                    try await gate.record(AccessRecord(by: nil, .listLogKeys), in: .default)
                }
            }
            gate.close()
            await gating.value
        }
    }

    @Test func `a stream shows no event of a newer schema`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { _ in
                let events = EventReads(
                    url: database.runtimeURL, keyring: SequencerFixture.keyring, onFault: { _ in })
                let query = EventQuery(limit: 9)
                let page = try await events.events(
                    matching: query, in: .default, isDisclosing: false)
                #expect(page.elements.count == 1)
                try await database.asOwner.execute(Self.newer)
                await #expect(throws: LedgerFault.unavailable) {
                    _ = try await events.events(matching: query, in: .default, isDisclosing: false)
                }
                await events.close()
            }
        }
    }

    @Test func `a migration waits for the append in progress, and the next append sees its schema`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let before = try await fixture.log().count
                // Represents an append that has locked the head.
                let append = Session(url: database.superuserURL, applicationName: "append")
                try await append.step {
                    try $0.execute("BEGIN; SELECT 1 FROM ledger_head FOR UPDATE")
                }
                let migrating = Task { try await Self.migrate(database) }
                try await waiters("ExclusiveLock", in: database)
                let late = Task { try await fixture.signIn(subject("apple", "ada")) }
                try await waiters("RowShareLock", in: database)
                try await append.step { try $0.execute("COMMIT") }
                try await migrating.value
                await #expect(throws: LedgerFault.unavailable) { _ = try await late.value }
                #expect(try await fixture.log().count == before)
                await append.close()
            }
        }
    }

    @Test func `no event is appended after a concurrent migration`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, batchLimit: 4) { fixture in
                let hasBegun = AdvanceSignal()
                let isMigrated = Flag()
                let start = hasBegun.count
                let signIns = Task {
                    await withTaskGroup(of: Void.self) { group in
                        for lane in 0..<8 {
                            group.addTask {
                                var number = 0
                                // One more after the migration, for commands that are not refused.
                                while true {
                                    let isLast = isMigrated.isRaised
                                    number += 1
                                    let who = subject("apple", "s\(lane)-\(number)")
                                    guard (try? await fixture.signIn(who)) != nil, !isLast else {
                                        return
                                    }
                                    hasBegun.raise()
                                }
                            }
                        }
                    }
                }
                await hasBegun.wait(since: start, atMost: .seconds(60))
                try await Self.migrate(database)
                isMigrated.raise()
                await signIns.value
                let counts = try await database.asSuperuser.texts(
                    """
                    SELECT next_position::text FROM appended_before UNION ALL
                    SELECT next_position::text FROM ledger_head UNION ALL
                    SELECT count(*)::text FROM events
                    """)
                #expect(counts.count == 3 && Set(counts).count == 1, "\(counts)")
            }
        }
    }

    @Test func `a migration without a pause between appends reports that and changes nothing`()
        async throws
    {
        try await ScratchDatabase.with { database in
            let append = Session(url: database.superuserURL, applicationName: "append")
            try await append.step {
                try $0.execute("BEGIN; LOCK TABLE ledger_head IN ROW SHARE MODE")
            }
            await #expect(throws: MigrationError.headsStayLocked) {
                try await Self.migrate(database, tableWaitMax: .milliseconds(100))
            }
            #expect(try await database.asOwner.status() == .current)
            await append.close()
        }
    }

    /// Waits until a session waits for the heads.
    private func waiters(_ mode: String, in database: ScratchDatabase) async throws {
        let console = database.asSuperuser
        try await eventually("\(mode) to be waited for") {
            try await !console.texts(
                """
                SELECT pid::text FROM pg_locks WHERE NOT granted AND mode = '\(mode)'
                    AND relation = 'ledger_head'::regclass
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                """
            ).isEmpty
        }
    }
}

extension Result {
    fileprivate var isRefused: Bool {
        if case .failure = self { true } else { false }
    }
}
