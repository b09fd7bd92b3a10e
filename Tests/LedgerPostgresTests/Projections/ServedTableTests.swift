import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// Reads of a read model while its table is exchanged.
@Suite struct ServedTableTests {
    @Test func `a snapshot older than the new table reads every row`() async throws {
        try await MergeFixture.with { fixture in
            var story = fixture.story()
            try await story.link(fixture.bob, "apple", "ada-a")
            try await fixture.database.fold()
            let session = Postgres.Session(
                url: fixture.database.runtimeURL, applicationName: "test")
            try await session.step { connection in
                try connection.execute(
                    """
                    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1 FROM ledger_head
                    """)
            }
            let report = try await fixture.database.rebuildOnline(.conflicts)
            #expect(report.served.generation == 2)
            let page = try await session.step { connection in
                try ConflictReads.read(ConflictQuery(limit: 10), in: .default, on: connection)
            }
            #expect(page.page.elements.count == 1)
            #expect(page.foldedSize == page.logSize)
            await session.close()
        }
    }

    @Test func `reads follow the served table, and a dropped one is replaced`() async throws {
        try await withReads { database, story, ada, identities in
            for generation: Int32 in [1, 2] {
                #expect(try await identities() == ["apple"])
                let report = try await database.rebuildOnline(.userProviders)
                #expect(report.previous.generation == generation)
                // The table that the next read still names is gone.
                let rebuild = database.onlineRebuild()
                _ = try await rebuild.dropPrevious(.userProviders)
                await rebuild.close()
            }
            try await story.link(ada, "google", "ada")
            try await database.fold()
            #expect(try await identities() == ["apple", "google"])
        }
    }

    @Test func `a read is repeated when another table is served and the old one still exists`()
        async throws
    {
        try await withReads { database, _, _, identities in
            #expect(try await identities() == ["apple"])
            _ = try await database.rebuildOnline(.userProviders)
            try await database.asSuperuser.execute("DELETE FROM user_providers_1")
            #expect(try await identities() == ["apple"])
        }
    }

    /// Passes an account with one identity, and a read of the providers of its identities.
    private func withReads(
        _ body: (ScratchDatabase, inout Story, Guest, () async throws -> [String]) async throws
            -> Void
    ) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada")
                try await database.fold()
                let reads = AccountReads(url: database.runtimeURL) { Issue.record("\($0)") }
                let running = Task { await reads.run() }
                try await body(database, &story, ada) {
                    try await reads.identities(of: ada.caller, in: .default).get()
                        .map(\.provider.description)
                }
                reads.close()
                await running.value
            }
        }
    }
}
