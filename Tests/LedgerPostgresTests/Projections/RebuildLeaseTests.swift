import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The lease that lets one process at a time rebuild a projection.
@Suite struct RebuildLeaseTests {
    private let first = RebuildLease(projection: .userProviders, builder: 1)
    private let second = RebuildLease(projection: .userProviders, builder: 2)

    /// Not on Citus, where others wait for what is written under a lease.
    @Test(.enabled(if: TestCluster.workers.isEmpty))
    func `a lapsed lease is taken once nothing is written under it any more`() async throws {
        try await ScratchDatabase.with { database in
            let holder = Session(url: database.ownerURL, applicationName: "holder")
            let other = Session(url: database.ownerURL, applicationName: "other")
            #expect(try await holder.step { try first.take(on: $0) })
            try await database.asSuperuser.execute(Self.lengthen)
            #expect(try await !other.step { try second.take(on: $0) }, "it is held")
            try await holder.step { connection in
                _ = try connection.query(.begin)
                try first.hold(on: connection)
            }
            #expect(try await other.step { try first.renew(on: $0) }, "a write delays no renewal")
            try await database.lapseRebuilds()
            #expect(try await !other.step { try second.take(on: $0) }, "something is written")
            try await holder.step { _ = try $0.query(.commit) }
            #expect(try await other.step { try second.take(on: $0) })

            #expect(try await !holder.step { try first.renew(on: $0) })
            let error = try await holder.step { connection in
                Self.error {
                    try first.write(on: connection) { () throws(PostgresError) in
                        try connection.execute("DROP VIEW user_providers")
                    }
                }
            }
            #expect(error?.state == .dataException)
            #expect(try await database.rows("count(*)::text]) FROM user_providers") == ["0"])
            try await holder.step { try RebuildLease.release(from: second.builder, on: $0) }
            #expect(try await holder.step { try first.take(on: $0) })
            await holder.close()
            await other.close()
        }
    }

    @Test(.enabled(if: !TestCluster.workers.isEmpty))
    func `on Citus a write that takes longer than the lease extends it`() async throws {
        try await ScratchDatabase.with { database in
            let holder = Session(url: database.ownerURL, applicationName: "holder")
            let other = Session(url: database.ownerURL, applicationName: "other")
            #expect(try await holder.step { try first.take(on: $0) })
            try await holder.step { connection in
                try first.write(on: connection) { () throws(PostgresError) in
                    try connection.execute(Self.lapse)
                    try connection.execute("SELECT pg_sleep(2.1)")
                }
            }
            #expect(try await !other.step { try second.take(on: $0) })
            #expect(try await holder.step { try first.renew(on: $0) })
            await holder.close()
            await other.close()
        }
    }

    @Test func `a load whose lease has lapsed writes no page more`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                let ada = try await story.signIn("apple", "ada", email: "ada@example.com")
                try await story.link(ada, "google", "ada")
                let session = Session(url: database.ownerURL, applicationName: "a load")
                let error = try await session.run { connection in
                    _ = try first.take(on: connection)
                    try connection.execute(Self.lengthen)
                    let served = try ProjectionTables.served(.userProviders, on: connection)
                    let new = try TableCreation.make(
                        .userProviders, beside: served, under: first, on: connection)
                    var load = BulkLoad(
                        .userProviders, into: new.description, hasKey: true, under: first,
                        of: .default, with: DisclosureReader(keyring: SequencerFixture.keyring))
                    _ = try load.advance(to: LogPosition(4), on: connection)
                    try connection.execute(Self.lapse)
                    return Self.error { _ = try load.advance(to: LogPosition(5), on: connection) }
                }
                #expect(error?.state == .dataException)
                await session.close()
                let written = try await database.rows("provider]) FROM user_providers_2")
                #expect(written == ["apple"])
            }
        }
    }

    @Test func `a rebuild whose lease has lapsed replaces and drops no table`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                var story = Story(fixture.sequencer)
                _ = try await story.signIn("apple", "ada")
                try await database.fold()
                let rebuild = database.onlineRebuild { step in
                    if step == .compared { try await database.lapseRebuilds() }
                }
                let fault = await #expect(throws: OnlineRebuildFault.self) {
                    try await rebuild.run(.userProviders)
                }
                guard case .leaseLost = fault else {
                    Issue.record("\(String(describing: fault))")
                    return
                }
                await rebuild.close()
                #expect(try await database.shown(.userProviders) == "user_providers_1")

                let owner = Session(url: database.ownerURL, applicationName: "a rebuild")
                let errors = try await owner.step { connection in
                    let tables = try ProjectionTables.all(on: connection)
                    let ready = try #require(tables.first { $0.state == .ready }?.table)
                    return [
                        Self.error {
                            _ = try TableExchange.retire(ready, under: first, on: connection)
                        },
                        Self.error {
                            _ = try TableExchange.drop(ready, under: first, on: connection)
                        },
                    ]
                }
                #expect(errors.map { $0?.state } == [.dataException, .dataException])
                await owner.close()
                try await database.expectComplete()
            }
        }
    }

    @Test func `an exchange whose answer is lost is not reported as a lapsed lease`() async throws {
        try await ScratchDatabase.with { database in
            let rebuild = database.onlineRebuild { step in
                if step == .swapped { throw PostgresError.connectionLost("after the exchange") }
            }
            await #expect(throws: PostgresError.connectionLost("after the exchange")) {
                _ = try await rebuild.run(.userProviders)
            }
            await rebuild.close()
            let shown = try await database.shown(.userProviders)
            #expect(shown == "user_providers_2")
        }
    }

    private static func error(_ body: () throws -> Void) -> PostgresError? {
        do {
            try body()
            return nil
        } catch {
            return error as? PostgresError
        }
    }

    /// Lets a lease last as long as the clock rule allows, for a machine that runs many tests.
    private static let lengthen = """
        UPDATE projection_tables SET builder_until = statement_timestamp() + interval '19 s'
        WHERE builder IS NOT NULL
        """

    fileprivate static let lapse =
        "UPDATE projection_tables SET builder_until = '-infinity' WHERE builder IS NOT NULL"
}

extension ScratchDatabase {
    /// Makes the leases of rebuilds lapse, as after their processes were killed.
    func lapseRebuilds() async throws {
        try await asSuperuser.execute(RebuildLeaseTests.lapse)
    }
}
