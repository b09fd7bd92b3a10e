import Ledger
import LedgerTestSupport
import Testing

@testable import LedgerPostgres

/// Commands with few events on Citus, which copy no rows: a transaction with a copy is prepared on the worker and
/// recorded on the coordinator before it is committed.
@Suite(.enabled(if: !TestCluster.workers.isEmpty)) struct OnePhaseTests {
    private static let head = "SELECT next_position::text FROM ledger_head"

    @Test func `a lone link, sign-in and unlink, their read models and figures take one phase`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.org")
                try await database.fold()
                let figures = FigureWorker(url: database.runtimeURL)
                #expect(try await figures.round() == false)
                let before = try await prepared(in: database)
                _ = try await story.link(ada, "google", "ada", email: "ada@example.org").get()
                _ = try await story.signIn("google", "ada", email: "ada@example.org")
                _ = try await story.unlink(ada, "apple").get()
                try await database.fold()
                #expect(try await figures.round() == false)
                await figures.close()
                let counted = "SELECT sum(events)::text FROM daily_figures"
                #expect(
                    try await database.asSuperuser.texts(counted)
                        == database.asSuperuser.texts(Self.head))
                #expect(try await prepared(in: database) <= before)
                #expect(fixture.reportedFaults == [])
            }
        }
    }

    @Test func `a new person's three events are appended in one phase`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let before = try await prepared(in: database)
                _ = try await story.signIn("apple", "ada", email: "ada@example.org")
                #expect(try await prepared(in: database) <= before)
                #expect(fixture.reportedFaults == [])
            }
        }
    }

    /// Returns the number of transactions that the coordinator has recorded; Citus deletes old ones each minute.
    private func prepared(in database: ScratchDatabase) async throws -> Int {
        let found = try await database.asSuperuser.texts(
            "SELECT count(*)::text FROM pg_dist_transaction")
        return try #require(found.first.flatMap { Int($0) })
    }

    @Test func `no head moves past an event that a trigger has swallowed`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                let before = try await database.asSuperuser.texts(Self.head)
                try await database.asSuperuser.execute(
                    """
                    CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql
                    AS 'BEGIN RETURN NULL; END'
                    """)
                try await database.asSuperuser.execute(
                    """
                    SELECT run_command_on_placements('events', 'CREATE TRIGGER a_stranger
                        BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION swallow()')
                    """)
                do {
                    _ = try await story.link(ada, "google", "ada")
                    Issue.record("a link without an event was answered")
                } catch is LedgerFault {}
                #expect(try await database.asSuperuser.texts(Self.head) == before)
            }
        }
    }
}
