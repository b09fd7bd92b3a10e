import Ledger
import LedgerAudit
import LedgerEngine
import LedgerTestSupport
import Migrations
import Postgres
import Testing

@testable import LedgerPostgres

/// A tenant that is copied from one database into another one.
@Suite(.serialized) struct TenantCopyTests {
    @Test func `every table of the catalogue has a rule, and no other one`() {
        #expect(Set(TenantCopyRule.all.keys) == Set(Catalogue.tables.map(\.name)))
    }

    @Test func `every table with personal data is discarded, and none of the log`() {
        for table in Catalogue.tables {
            let isDiscarded = TenantCopyRule.isDiscarded(table.name)
            #expect(isDiscarded || table.columns(.personal).isEmpty, "\(table.name)")
            let isLog = GuardedTables.appendOnly.contains(table.name)
            #expect(!isLog || !isDiscarded, "\(table.name)")
            if TenantCopyRule.all[table.name]?.isAppended == true {
                #expect(isLog, "\(table.name)")
            }
        }
    }

    @Test func `a copy has every row, and nothing that was erased meanwhile`() async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let copy = try Sides(fixture.database, other)
                #expect(try copy.run.copyAhead() > 5)
                #expect(try await other.tables(holding: "ledger_test_") == ["public.tenant_moves"])
                var story = fixture.story
                try await story.erase(fixture.ada.account)
                try await fixture.settle()
                try copy.run.stop()
                try await copy.run.awaitQuiet(noticed: .zero)
                try copy.run.copyRest()
                try copy.run.markMoved()
                try copy.run.activate()
                // Bob has the same address of a client.
                for text in ErasureFixture.adasData where text != Story.clientIP {
                    #expect(try await other.tables(holding: text) == [], "\(text)")
                }
                #expect(try await report(other) == report(fixture.database))
                // The copy goes on where the former place ended.
                try await SequencerFixture.with(other, opensLedger: false) { there in
                    _ = try await there.signIn(subject("google", "bob"))
                }
                await #expect(throws: LedgerFault.tenantMoved) {
                    _ = try await fixture.sequencer.open(.default)
                }
            }
        }
    }

    @Test func `a write that ends while the rest is copied is copied, too`() async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let former = fixture.database
                try await former.asSuperuser.execute(
                    """
                    INSERT INTO messages (tenant_id, message_id, channel, template, language,
                        wrapping_key, sealed, recipient_key, recipient_digest, created_at,
                        expires_at, next_attempt_at)
                    VALUES ('default', gen_random_uuid(), 'email', 'sign_in_code', 'en', 'x', 'x',
                        'x', 'x', now(), now() + interval '1 hour', now())
                    """)
                // The head is copied after the messages.
                let holder = Postgres.Session(url: other.superuserURL, applicationName: "holder")
                try await holder.step {
                    try $0.execute("BEGIN; LOCK TABLE ledger_head IN SHARE MODE")
                }
                async let copied: Void = former.asSuperuser.with { _ in
                    let copy = try Sides(former, other)
                    copy.target.statementDeadline = .seconds(60)
                    try copy.run.stop()
                    try copy.run.copyRest()
                }
                try await soon("the copy to wait for the head") {
                    try await !other.asSuperuser.texts(
                        """
                        SELECT query FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock'
                            AND query LIKE 'DELETE FROM ledger_head%'
                        """
                    ).isEmpty
                }
                try await former.asSuperuser.execute(
                    """
                    UPDATE messages SET state = 'sent', ended_at = now(), sealed = NULL,
                        response_code = 250
                    """)
                await holder.close()
                try await copied
                let rows = "SELECT m::text FROM messages m"
                #expect(try await other.asSuperuser.texts(rows) == former.asSuperuser.texts(rows))
                let states = "SELECT state FROM messages"
                #expect(try await other.asSuperuser.texts(states) == ["sent"])
            }
        }
    }

    @Test func `a move waits for transactions of its database, not of others`() async throws {
        try await ScratchDatabase.with { database in
            try await ScratchDatabase.with { other in
                let (here, there, own) = (
                    try connect(database), try connect(other), try connect(database)
                )
                let begin = "BEGIN; SELECT pg_current_xact_id()"
                try there.execute(begin)
                let first = try MoveRows.newTransaction(on: own)
                try await soon("nothing to wait for beside another database") {
                    try !MoveRows.hasTransactions(upTo: first, on: own)
                }
                try here.execute(begin)
                let second = try MoveRows.newTransaction(on: own)
                #expect(try MoveRows.hasTransactions(upTo: second, on: own))
                try here.execute("ROLLBACK")
                try await soon("the transaction to have ended") {
                    try !MoveRows.hasTransactions(upTo: second, on: own)
                }
                try there.execute("ROLLBACK")
            }
        }
    }

    private func connect(_ database: ScratchDatabase) throws -> Connection {
        try Connection(url: database.ownerURL, applicationName: "a test")
    }

    /// The counts of a verification that holds.
    func report(_ database: ScratchDatabase) async throws -> [VerificationCheck: Int64] {
        let verifier = Verifier(url: database.runtimeURL, keyring: SequencerFixture.keyring)
        let report = try await verifier.run()
        await verifier.close()
        #expect(report.holds, "\(report.findings)")
        return report.counts
    }

    @Test func `until it is activated, the copy takes no command and is no tenant to verify`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let copy = try Sides(fixture.database, other)
                _ = try copy.run.copyAhead()
                let verifier = Verifier(url: other.runtimeURL, keyring: SequencerFixture.keyring)
                #expect(try await verifier.run().tenants == 0)
                try await SequencerFixture.with(other, opensLedger: false) { there in
                    _ = await #expect(throws: LedgerFault.tenantMoved) {
                        try await there.open(.default)
                    }
                }
                // The source serves on.
                _ = try await fixture.sequencer.signIn(carol)
                try copy.run.stop()
                try await copy.run.awaitQuiet(noticed: .zero)
                try copy.run.copyRest()
                #expect(try await verifier.run().tenants == 0)
                try await SequencerFixture.with(other, opensLedger: false) { there in
                    _ = await #expect(throws: LedgerFault.tenantMoved) {
                        try await there.open(.default)
                    }
                }
                await verifier.close()
                // Before the source is marked, nothing activates the copy.
                #expect(throws: TenantCopyFault.superseded) { try copy.run.activate() }
            }
        }
    }

    var carol: Subject { subject("google", "carol") }

    @Test func `another tenant's commands of the same batch are executed`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                let acme = try #require(TenantID("acme"))
                try await database.asSuperuser.execute(Self.mark("acme", "moved"))
                let commands = [
                    SequencerFixture.opening(of: acme),
                    SequencerFixture.opening(of: tenant("beta")),
                ]
                let answers = await withCheckedContinuation { continuation in
                    fixture.sequencer.submit(commands) { continuation.resume(returning: $0) }
                }
                #expect(answers[0] == .failure(.tenantMoved))
                #expect((try? answers[1].get().get()) != nil)
                #expect(
                    try await database.asSuperuser.texts(
                        "SELECT tenant_id FROM ledger_head ORDER BY 1") == ["beta", "default"])
            }
        }
    }

    static func mark(_ tenant: String, _ state: String) -> String {
        """
        INSERT INTO tenant_moves (tenant_id, state, peer, run)
        VALUES ('\(tenant)', '\(state)', 'elsewhere', gen_random_uuid())
        """
    }

    @Test func `a directory of tenants notices a move within its time`() async throws {
        try await ErasureFixture.with { fixture in
            let tenants = Tenants(url: fixture.database.runtimeURL, known: [.default])
            #expect(try await tenants.contains(.default))
            try await fixture.database.asSuperuser.execute(Self.mark("default", "leaving"))
            let start = ContinuousClock.now
            while (try? await tenants.contains(.default)) == true {
                #expect(ContinuousClock.now - start < TenantMove.noticeMax + .seconds(20))
                await Task.yield()
            }
            await #expect(throws: LedgerFault.tenantMoved) { try await tenants.contains(.default) }
            try await fixture.database.asSuperuser.execute("DELETE FROM tenant_moves")
            try await eventually("the tenant is served again") {
                (try? await tenants.contains(.default)) == true ? true : nil
            }
        }
    }

    @Test func `no worker takes up a moved tenant`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            _ = try await story.signIn("google", "dan")
            let behind =
                "SELECT DISTINCT tenant_id FROM projections p WHERE position < ("
                + "SELECT next_position FROM ledger_head h WHERE h.tenant_id = p.tenant_id)"
            #expect(try await fixture.database.asSuperuser.texts(behind) == ["default"])
            try await fixture.database.asSuperuser.execute(Self.mark("default", "leaving"))
            try await fixture.database.fold()
            #expect(try await fixture.database.asSuperuser.texts(behind) == ["default"])
        }
    }

    @Test
    func `refused are a tenant of the same name, the same database, another place and an erasure`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            #expect(throws: TenantCopyFault.sameDatabase) {
                _ = try Sides(fixture.database, fixture.database)
            }
            try await ScratchDatabase.with { other in
                let owner = fixture.database.asSuperuser
                #expect(throws: TenantCopyFault.unknownTenant) {
                    _ = try Sides(fixture.database, other, "acme")
                }
                try await owner.execute(Self.mark("default", "moved"))
                #expect(throws: TenantCopyFault.self) { _ = try Sides(fixture.database, other) }
                try await owner.execute("DELETE FROM tenant_moves")
                var story = fixture.story
                try await story.erase(fixture.ada.account)
                #expect(throws: TenantCopyFault.erasing) { _ = try Sides(fixture.database, other) }
                #expect(try await other.asSuperuser.texts("SELECT state FROM tenant_moves") == [])
                try await fixture.settle()
                try await SequencerFixture.with(other) { _ in
                    _ = #expect(throws: TenantCopyFault.exists) {
                        _ = try Sides(fixture.database, other)
                    }
                }
            }
        }
    }

    @Test func `a run that another one has followed can neither end nor activate the copy`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let first = try Sides(fixture.database, other)
                try first.run.stop()
                let second = try Sides(fixture.database, other)
                try second.run.stop()
                #expect(throws: TenantCopyFault.superseded) { try first.run.copyRest() }
                #expect(throws: TenantCopyFault.superseded) { try first.run.markMoved() }
                _ = try second.run.copyAhead()
                try second.run.copyRest()
                try second.run.markMoved()
                #expect(throws: TenantCopyFault.superseded) { try first.run.activate() }
                try second.abandon(run: 7)
                #expect(throws: TenantCopyFault.superseded) { try second.run.activate() }
                _ = try await fixture.sequencer.signIn(carol)
                // The abandoned copy is continued.
                let third = try Sides(fixture.database, other)
                #expect(try third.run.copyAhead() > 0)
                try third.run.stop()
                try await third.run.awaitQuiet(noticed: .zero)
                try third.run.copyRest()
                try third.run.markMoved()
                try third.run.activate()
                #expect(throws: TenantCopyFault.active) {
                    try third.abandon(run: 8)
                }
                #expect(throws: TenantCopyFault.active) { _ = try Sides(fixture.database, other) }
                #expect(try await report(other) == report(fixture.database))
            }
        }
    }

    @Test func `a tenant is copied to one place only`() async throws {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { one in
                try await ScratchDatabase.with { two in
                    let first = try Sides(fixture.database, one)
                    let second = try Sides(fixture.database, two)
                    _ = try first.run.copyAhead()
                    _ = try second.run.copyAhead()
                    try first.run.stop()
                    #expect(throws: TenantCopyFault.superseded) { try second.run.stop() }
                    try first.run.copyRest()
                    try first.run.markMoved()
                    #expect(throws: TenantCopyFault.superseded) { try second.run.activate() }
                    try first.run.activate()
                }
            }
        }
    }

    @Test func `a run that another one has followed changes no row of a place that serves`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            try await ScratchDatabase.with { other in
                let frozen = try Sides(fixture.database, other)
                try frozen.run.stop()
                let next = try Sides(fixture.database, other)
                try next.run.stop()
                try next.run.copyRest()
                try next.run.markMoved()
                try next.run.activate()
                try await SequencerFixture.with(other, opensLedger: false) { there in
                    _ = try await there.signIn(carol)
                }
                let accounts = "SELECT account_id::text FROM accounts ORDER BY 1"
                let before = try await other.asSuperuser.texts(accounts)
                #expect(throws: TenantCopyFault.superseded) { try frozen.run.copyRest() }
                #expect(try await other.asSuperuser.texts(accounts) == before)
                #expect(before.count > 1)
            }
        }
    }
}
