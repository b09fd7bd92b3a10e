import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// An erasure and a table that a rebuild took out of use while projectors folded into it.
@Suite struct RetiredTableTests {
    private struct Interrupted: Error {}

    @Test func `an erasure waits for the folds of a table that is out of use, and ends them`()
        async throws
    {
        try await ErasureFixture.with { fixture in
            let database = fixture.database
            let broken = database.onlineRebuild { if $0 == .ready { throw Interrupted() } }
            await #expect(throws: Interrupted.self) { try await broken.run(.userProviders) }
            await broken.close()
            var story = fixture.story
            try await story.erase(fixture.ada.account)
            let store = PostgresProjectionStore(
                session: Session(url: database.runtimeURL, applicationName: "a projector"),
                disclosures: DisclosureReader(keyring: SequencerFixture.keyring),
                recent: RecentEvents())
            // The projector lists the table before it is taken out of use.
            let backlog = try #require(try await store.backlogs(of: [.userProviders]).first)
            let table = try #require(backlog.tables.map(\.table).first { $0.generation == 2 })
            try await retire(table, in: database)
            try await database.fold()

            #expect(try await store.open([table], of: .default, for: []).count == 1)
            let worker = ErasureWorker(url: database.runtimeURL) { _ in }
            let error = await #expect(throws: PostgresError.self) { try await worker.round() }
            #expect(error?.state == .lockNotAvailable, "a fold is open")
            await store.abandon()
            try await database.destroy()
            let isDestroyed = try await database.rows(
                "(destroyed_at IS NOT NULL)::text]) FROM erasures")
            #expect(isDestroyed == ["true"])

            #expect(try await store.open([table], of: .default, for: []).isEmpty)
            let session = Session(url: database.runtimeURL, applicationName: "a projector")
            try await session.step { connection in
                try Checkpoints.make([(tenant: .default, table: table)], on: connection)
            }
            await session.close()
            #expect(try await store.open([table], of: .default, for: []).isEmpty)
            await store.close()
        }
    }

    private func retire(_ table: ProjectionTable, in database: ScratchDatabase) async throws {
        let session = Session(url: database.ownerURL, applicationName: "a rebuild")
        let lease = RebuildLease(projection: .userProviders, builder: 1)
        let isRetired = try await session.step { connection in
            guard try lease.take(on: connection) else { return false }
            let isRetired = try TableExchange.retire(table, under: lease, on: connection)
            try RebuildLease.release(from: lease.builder, on: connection)
            return isRetired
        }
        #expect(isRetired)
        await session.close()
    }
}
