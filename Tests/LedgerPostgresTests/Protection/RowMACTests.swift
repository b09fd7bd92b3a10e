import Cryptography
import Encodings
import Foundation
import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerAudit
@testable import LedgerEngine
@testable import LedgerPostgres

/// The MACs of decision state: no command relies on a row that no server has written.
@Suite struct RowMACTests {
    /// A change, and the subject that signs in afterwards.
    private static let identityChanges = [
        ("provider = 'google'", "google", "ada"), ("provider_id = 'thief'", "apple", "thief"),
        ("identity_id = gen_random_uuid()", "apple", "ada"),
        (
            "account_id = (SELECT account_id FROM identities WHERE provider_id = 'bob')", "apple",
            "ada"
        ),
        ("account_id = NULL", "apple", "ada"),
        ("last_account_id = gen_random_uuid()", "apple", "ada"),
        ("linked_at = linked_at - interval '1 day'", "apple", "ada"),
        ("linked_position = linked_position + 1", "apple", "ada"), ("mac = NULL", "apple", "ada"),
        ("mac = (SELECT mac FROM identities WHERE provider_id = 'bob')", "apple", "ada"),
        ("mac = '\\x00'", "apple", "ada"),
    ]

    @Test(arguments: identityChanges)
    func `a changed identity cannot be signed in with`(
        change: String, provider: String, name: String
    ) async throws {
        try await Self.with { database, fixture, _, _ in
            try await database.asRuntime.execute(
                "UPDATE identities SET \(change) WHERE provider_id = 'ada'")
            let before = try await fixture.log().count
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await fixture.signIn(subject(provider, name))
            }
            #expect(try await fixture.log().count == before, "nothing is appended")
            #expect(fixture.reportedFaults.contains { $0.contains("identities.mac") })
            _ = try await fixture.signIn(subject("apple", "bob"))
            try await Self.expectFound(.identities, database)
        }
    }

    @Test func `a decision that does not fit reports the changed row instead`() async throws {
        try await Self.with { database, fixture, _, _ in
            try await database.asRuntime.execute(
                "UPDATE identities SET linked_position = 0 WHERE provider_id = 'ada'")
            let store = PostgresBatchStore(
                url: database.runtimeURL, keyring: SequencerFixture.keyring,
                signInWindowSeconds: { _ in 3600 })
            for (name, damage) in [("ada", "identities.mac"), ("bob", "the decision")] {
                let keys = BatchKeys([Self.signIn(name)])
                let fault = await #expect(throws: BatchFault.self) {
                    _ = try await store.transact(keys) { _, _ throws(BatchFault) in
                        throw .damaged("the decision")
                    }
                }
                guard case .damaged(let row) = fault else {
                    Issue.record("\(String(describing: fault))")
                    continue
                }
                #expect(row.hasPrefix(damage))
            }
            await store.close()
        }
    }

    private static let sessionChanges = [
        "account_id = (SELECT account_id FROM identities WHERE provider_id = 'bob')",
        "identity_id = gen_random_uuid()", "authenticated_at = now()",
        "opened_at = opened_at + interval '1 day'", "opened_position = opened_position - 1",
        "methods = 'hwk pwd'", "refresh_current = decode(repeat('ab', 32), 'hex')",
        "refresh_preceding = decode(repeat('ab', 32), 'hex')",
        """
        refresh_preceding = decode(repeat('ab', 32), 'hex'), refresh_sealed_successor = '\\x01',
            refresh_exchanged_at = now()
        """,
        "refresh_generation = refresh_generation + 1", "expires_at = expires_at + interval '1 day'",
        "mac = NULL", "mac = (SELECT mac FROM sessions ORDER BY opened_position DESC LIMIT 1)",
    ]

    @Test(arguments: sessionChanges)
    func `a changed session is no longer usable`(change: String) async throws {
        try await Self.with { database, fixture, ada, bob in
            try await database.asRuntime.execute(
                "UPDATE sessions SET \(change) WHERE session_id = '\(ada.caller.session)'")
            var story = Story(fixture.sequencer, seed: 2)
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await story.submit(Self.refresh(of: ada))
            }
            try await story.signOut(bob)
            try await Self.expectFound(.sessions, database)
        }
    }

    @Test(arguments: ["a sign-out", "an unlink"])
    func `an ended session cannot be restored`(end: String) async throws {
        try await Self.with { database, fixture, ada, _ in
            var story = Story(fixture.sequencer, seed: 2)
            if end == "an unlink" {
                try await story.link(ada, "google", "ada-g")
                try await story.unlink(ada, "apple")
            } else {
                try await story.signOut(ada)
            }
            try await database.asRuntime.execute("UPDATE sessions SET ended_position = NULL")
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await story.submit(Self.refresh(of: ada))
            }
        }
    }

    @Test func `a refreshed session has the MAC of its new state`() async throws {
        try await Self.with { database, fixture, ada, _ in
            var story = Story(fixture.sequencer, seed: 2)
            let current = try await database.asRuntime.texts(
                "SELECT encode(refresh_current, 'hex') FROM sessions ORDER BY opened_position")
            let presented = try #require(Hex.decode(current[0]).flatMap { Digest($0) })
            let next = digest(Array(repeating: 7, count: 32))
            let refreshed = try await story.submit(
                .refreshSession(
                    RefreshSession(
                        session: ada.caller.session, presented: presented, successor: next,
                        sealedSuccessor: [1, 2, 3])))
            _ = try refreshed.get()
            try await story.signOut(ada)
        }
    }

    private static let mergeChanges = [
        "event_id = gen_random_uuid()", "position = position + 1",
        "absorbed_id = gen_random_uuid()",
        "moved = '{}'", "dropped = array[gen_random_uuid()]", "replaced = array[gen_random_uuid()]",
        "mac = NULL", "mac = (SELECT mac FROM identities LIMIT 1)",
    ]

    @Test(arguments: mergeChanges)
    func `a changed merge cannot be undone`(change: String) async throws {
        try await MergeFixture.with(isProtected: true) { fixture in
            let merge = try await fixture.merge()
            try await fixture.check()
            try await fixture.database.asRuntime.execute("UPDATE merges SET \(change)")
            await #expect(throws: LedgerFault.internalFailure) { try await fixture.undo(merge) }
            let report = try await fixture.report()
            #expect(report.findings.contains { $0.check == .merges }, "\(report.findings)")
        }
    }

    @Test(arguments: ["provider_id = 'thief'", "linked_at = linked_at - interval '1 day'"])
    func `a changed identity that a merge left behind is not returned`(change: String) async throws
    {
        try await MergeFixture.with(isProtected: true) { fixture in
            let merge = try await fixture.merge()
            try await fixture.database.asRuntime.execute(
                "UPDATE identities SET \(change) WHERE provider_id = 'bob-g'")
            await #expect(throws: LedgerFault.internalFailure) { try await fixture.undo(merge) }
            try await Self.expectFound(.identities, fixture.database)
        }
    }

    @Test func `a changed survivor is found`() async throws {
        try await MergeFixture.with(isProtected: true) { fixture in
            let merge = try await fixture.merge()
            try await fixture.database.asRuntime.execute(
                "UPDATE merges SET survivor_id = absorbed_id, absorbed_id = survivor_id")
            await #expect(throws: (any Error).self) { try await fixture.undo(merge) }
            #expect(try await !fixture.report().holds)
        }
    }

    @Test func `a subject given a foreign account is not signed in, and its neighbours are`()
        async throws
    {
        try await Self.with { database, fixture, ada, _ in
            try await database.asRuntime.execute(
                """
                INSERT INTO identities (tenant_id, provider, provider_id, identity_id, account_id,
                    last_account_id, linked_at, linked_position, mac)
                SELECT tenant_id, provider, 'thief', gen_random_uuid(), account_id,
                    last_account_id, linked_at, linked_position, mac
                FROM identities WHERE provider_id = 'ada'
                """)
            let names = ["carl", "thief", "dora", "emil", "fay"]
            let results = try await Self.inOneBatch(names, database, fixture)
            #expect(results["thief"] == LedgerFault.internalFailure)
            for name in names where name != "thief" {
                #expect(results[name] == .some(.none), "\(name) is signed in")
            }
            #expect(fixture.sequencer.statistics.batchesSplit > 0, "they came in one batch")
            // A caller who holds a link of the account also fails, rather than continuing beside it.
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await fixture.signIn(subject("apple", "ada"))
            }
            try await Self.expectFound(.identities, database)
        }
    }

    @Test func `a row without a MAC is valid while its log is not protected, a wrong MAC never`()
        async throws
    {
        try await Self.with(isProtected: false) { database, fixture, ada, _ in
            // As the migration leaves them.
            for table in ["identities", "sessions", "merges"] {
                try await database.asSuperuser.execute("UPDATE \(table) SET mac = NULL")
            }
            try await database.asSuperuser.execute("UPDATE ledger_head SET mac = NULL")
            _ = try await fixture.signIn(subject("apple", "ada"))
            let report = try await Self.report(database)
            #expect(report.holds && !report.isSearched, "\(report.findings)")
            try await database.asRuntime.execute(
                "UPDATE identities SET mac = (SELECT mac FROM ledger_head) WHERE provider_id = 'bob'"
            )
            await #expect(throws: LedgerFault.internalFailure) {
                _ = try await fixture.signIn(subject("apple", "bob"))
            }
            try await Self.expectFound(.identities, database)
        }
    }

    @Test(arguments: [
        "protected_from = NULL", "protected_from = NULL, mac = NULL", "mac = NULL",
        "log_number = 2",
    ])
    func `a changed head is found`(change: String) async throws {
        try await Self.with { database, _, _, _ in
            try await database.asRuntime.execute("UPDATE ledger_head SET \(change)")
            try await Self.expectFound(.head, database)
        }
    }

    // MARK: Support

    /// A ledger in which Ada and Bob have signed in with Apple.
    private static func with(
        isProtected: Bool = true,
        _ body: @Sendable (ScratchDatabase, SequencerFixture, Guest, Guest) async throws -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: isProtected) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                let bob = try await story.signIn("apple", "bob")
                let report = try await report(database)
                #expect(report.holds && !report.isSearched, "\(report.findings)")
                try await body(database, fixture, ada, bob)
            }
        }
    }

    private static func refresh(of guest: Guest) -> Command.Intent {
        .refreshSession(
            RefreshSession(
                session: guest.caller.session, presented: digest(Array(repeating: 1, count: 32)),
                successor: digest(Array(repeating: 2, count: 32)), sealedSuccessor: [3]))
    }

    /// Signs people in whose commands wait for one lock together; returns the error of each.
    private static func inOneBatch(
        _ names: [String], _ database: ScratchDatabase, _ fixture: SequencerFixture
    ) async throws -> [String: LedgerFault?] {
        let letGo = DispatchSemaphore(value: 0)
        let holder = Postgres.Session(url: database.superuserURL, applicationName: "holder")
        async let held: Void = holder.run { connection in
            try connection.execute("BEGIN; SELECT FROM ledger_head FOR UPDATE")
            letGo.wait()
            try connection.execute("COMMIT")
        }
        // Declared after it, so that it is released before it is awaited.
        defer { letGo.signal() }
        try await eventually("the head is locked") {
            try await database.asSuperuser.texts(
                """
                SELECT application_name FROM pg_stat_activity WHERE datname = current_database()
                    AND application_name = 'holder' AND state = 'idle in transaction'
                """
            ) == ["holder"]
        }
        let first = Task { try await fixture.signIn(subject("apple", "bob")) }
        try await eventually("a batch waits for the lock") {
            try await database.asSuperuser.texts(
                """
                SELECT wait_event_type FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            ).count == 1
        }
        let waiting = names.map { name in
            Task {
                do throws(LedgerFault) {
                    _ = try await fixture.sequencer.submit(signIn(name))
                    return (name, LedgerFault?.none)
                } catch {
                    return (name, error)
                }
            }
        }
        try await eventually("all others wait behind it") {
            fixture.sequencer.statistics.queueDepth == names.count
        }
        letGo.signal()
        try await held
        _ = try await first.value
        var results: [String: LedgerFault?] = [:]
        for task in waiting {
            let (name, fault) = await task.value
            results[name] = .some(fault)
        }
        return results
    }

    private static func signIn(_ name: String) -> Command {
        var generator = SeededGenerator(seed: UInt64.random(in: 0...(.max)))
        return Command(
            id: generator.id(), tenant: .default,
            origin: Command.Origin(request: nil, clientIP: nil, userAgent: nil),
            intent: .signIn(
                SignIn(
                    proof(
                        subject("apple", name),
                        authenticatedAt: Timestamp(seconds: 1_000_000_000_000)),
                    createAccount: true, refreshToken: digest(generator.bytes(32)),
                    newAccount: generator.id(), newIdentity: generator.id(),
                    newSession: generator.id())))
    }

    private static func report(_ database: ScratchDatabase) async throws -> VerificationReport {
        let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
        let report = try await verifier.run()
        await verifier.close()
        return report
    }

    private static func expectFound(
        _ check: VerificationCheck, _ database: ScratchDatabase
    ) async throws {
        let report = try await report(database)
        let found = report.findings.contains {
            $0.check == check && ($0.text.contains("MAC") || $0.text.contains("be read"))
        }
        #expect(found, "\(report.findings)")
        #expect(!"\(report.findings)".contains("thief"), "no subject is named")
    }
}
