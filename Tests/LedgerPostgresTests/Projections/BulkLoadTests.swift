import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// A load of many pages gives the rows that the projector folds.
@Suite struct BulkLoadTests {
    @Test(arguments: [true, false])
    func `an identity that is linked again and again has one row`(hasKey: Bool) async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                for number in 0..<3 {
                    try await story.link(ada, "google", "ada", email: "\(number)@example.com")
                    _ = try await story.signIn("google", "ada", email: "\(number)@work.example")
                    try await story.unlink(ada, "google")
                }
                try await story.link(ada, "google", "ada", email: "first@example.com")
                _ = try await story.signIn("google", "ada", email: "last@example.com")
                let eve = try await story.signIn("apple", "eve")
                try await story.link(eve, "google", "eve")
                try await story.unlink(eve, "google")
                try await database.fold()
                let head = LogPosition(
                    try #require(
                        Int64(try await database.rows("next_position::text]) FROM ledger_head")[0]))
                )
                // Pages of one event, a few and all.
                for pageMax in [1, 3, 100] {
                    let rows = try await Self.rows(
                        to: head, pageMax: pageMax, hasKey: hasKey, in: database)
                    let folded = try await database.rows(
                        "t::text]) FROM user_providers_1 t ORDER BY 1")
                    #expect(folded.count == 3 && rows == folded, "pages of \(pageMax)")
                }
            }
        }
    }

    private static func rows(
        to head: LogPosition, pageMax: Int, hasKey: Bool, in database: ScratchDatabase
    ) async throws -> [String] {
        let session = Session(url: database.ownerURL, applicationName: "a load")
        let position = try await session.run { connection in
            let shape = hasKey ? "INCLUDING INDEXES" : ""
            try connection.execute("CREATE TABLE loaded (LIKE user_providers_1 \(shape))")
            var load = BulkLoad(
                .userProviders, into: "loaded", hasKey: hasKey, of: .default,
                with: DisclosureReader(keyring: SequencerFixture.keyring))
            let damage = try load.advance(to: head, pageMax: pageMax, on: connection)
            #expect(damage == nil)
            return load.position
        }
        #expect(position == head)
        await session.close()
        let rows = try await database.rows("t::text]) FROM loaded t ORDER BY 1")
        try await database.asSuperuser.execute("DROP TABLE loaded")
        return rows
    }
}
