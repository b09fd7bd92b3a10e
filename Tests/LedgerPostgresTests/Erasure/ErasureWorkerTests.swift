import Ledger
import LedgerAudit
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The worker finishes however often it is stopped, and whatever state the read model is in.
@Suite struct ErasureWorkerTests {
    @Test(arguments: [true, false])
    func `a worker that is stopped after every step finishes`(
        isFolded: Bool
    ) async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            if isFolded {
                try await fixture.database.fold()
            } else {
                // A stopped read model names no events: the log is scanned.
                try await fixture.database.asSuperuser.execute(
                    "UPDATE projections SET failure = 'a test'")
            }
            var limits = ErasureLimits()
            limits.events = 2
            limits.positions = 3
            let work = ErasureWork(
                tenant: .default, account: fixture.ada.account, limits: limits)
            var steps = 0
            var left = try await disclosures(of: fixture)
            #expect(left > 5)
            var outcome = ErasureWork.Outcome.partly
            while outcome == .partly {
                // A new connection for each step: completed work remains, and incomplete work leaves no
                // trace.
                let session = Session(
                    url: fixture.database.runtimeURL, applicationName: "a step")
                outcome = try await session.run { try work.step(on: $0) }
                await session.close()
                steps += 1
                let now = try await disclosures(of: fixture)
                #expect(now <= left)
                left = now
                if isFolded { #expect(try await fixture.verify().holds) }
            }
            #expect(outcome == .ended && left == 0 && steps > 3)
            let done = try await fixture.database.rows(
                "account_id::text]) FROM erasures WHERE destroyed_at IS NOT NULL")
            #expect(done == [fixture.ada.account.description])
            let secrets = try await fixture.database.rows(
                """
                session_id::text]) FROM sessions
                WHERE account_id = '\(fixture.ada.account)'
                    AND refresh_current <> decode(repeat('00', 32), 'hex')
                """)
            #expect(secrets.isEmpty)
        }
    }

    @Test func `a worker waits for a read model that is behind, and searches the log in the end`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            let patient = ErasureWorker(url: fixture.database.runtimeURL) { _ in }
            #expect(try await patient.round() == 1, "the erasure is not folded yet")
            var limits = ErasureLimits()
            limits.patienceSeconds = 0
            let impatient = ErasureWorker(url: fixture.database.runtimeURL, limits: limits) { _ in }
            #expect(try await impatient.round() == 0)
            #expect(try await disclosures(of: fixture) == 0)
            #expect(try await fixture.verify().holds)
        }
    }

    @Test func `a read model with a gap is not relied on`() async throws {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            try await fixture.database.fold()
            try await fixture.database.asSuperuser.execute(
                "DELETE FROM account_audit_1 WHERE account_id = '\(fixture.ada.account)' AND account_seq = 3"
            )
            try await fixture.database.destroy()
            #expect(try await disclosures(of: fixture) == 0)
        }
    }

    @Test func `a process removes an erased account's disclosures from its recent events`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            var story = fixture.story
            let recent = RecentEvents()
            let log = try await fixture.sequencer.log()
            let events = log.map { event in
                var values = DisclosedValues()
                _ = values.add(Disclosure(.email, "somebody@example.org"))
                return DisclosedEvent(recorded: event.recorded, disclosed: values)
            }
            recent.add(events, of: .default)
            try await story.erase(fixture.ada.account)
            // Another process has erased; this one learns of it from the database.
            let worker = ErasureWorker(url: fixture.database.runtimeURL, recent: recent) { _ in }
            _ = try await worker.round()
            let page = try #require(
                recent.page(of: .default, from: LogPosition(0), limit: events.count))
            for event in page.events {
                let isAdas = event.recorded.accounts.first?.id == fixture.ada.account
                #expect((event.disclosed.email == nil) == isAdas)
            }
        }
    }

    @Test func `one erasure that fails stops none of the others`() async throws {
        try await ErasureFixture.with(owner: .plain) { fixture in
            var story = fixture.story
            let ada = fixture.ada.account
            try await story.erase(ada)
            try await story.erase(fixture.bob.account)
            try await fixture.database.fold()
            try await fixture.database.asSuperuser.execute(
                """
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'a test'; END $$;
                CREATE TRIGGER fail BEFORE DELETE ON disclosures FOR EACH ROW
                    WHEN (OLD.account_id = '\(ada)') EXECUTE FUNCTION fail()
                """)
            let worker = ErasureWorker(url: fixture.database.runtimeURL) { _ in }
            let error = await #expect(throws: PostgresError.self) { try await worker.round() }
            #expect(error?.state == .raiseException)
            let done = "account_id::text]) FROM erasures WHERE destroyed_at IS NOT NULL"
            #expect(try await fixture.database.rows(done) == ["\(fixture.bob.account)"])
            try await fixture.database.asSuperuser.execute("DROP TRIGGER fail ON disclosures")
            #expect(try await worker.round() == 0)
            #expect(try await fixture.database.rows(done).count == 2)
        }
    }

    private func disclosures(of fixture: ErasureFixture) async throws -> Int {
        try await fixture.database.rows(
            "position::text]) FROM disclosures WHERE account_id = '\(fixture.ada.account)'"
        ).count
    }
}
