import Ledger
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerEngine
@testable import LedgerPostgres

/// The progress of projections, which readiness and the metrics query every few seconds.
@Suite struct ProjectionStatusTests {
    /// On a young ledger the status must not read all of a log that was never analyzed.
    @Test func `the status looks up one event for each table, however many there are`() async throws
    {
        try await ScratchDatabase.with { database in
            try await database.asSuperuser.execute(
                """
                INSERT INTO events (tenant_id, position, event_id, type, schema_version, recorded_at,
                    command_id, actor, entry, mac)
                SELECT 'default', n, gen_random_uuid(), 'Test', 1, now() - interval '1 hour',
                    gen_random_uuid(), 'test', '', decode(repeat('00', 20), 'hex')
                FROM generate_series(0, 3999) AS n;
                INSERT INTO ledger_head (tenant_id, next_position) VALUES ('default', 4000);
                INSERT INTO projections (tenant_id, name, generation, position, version)
                SELECT 'default', name, generation, 1000, version FROM projection_tables
                """)
            let session = Postgres.Session(url: database.runtimeURL, applicationName: "a test") {
                try $0.execute(ConnectionSettings.lookups)
            }
            // Of this transaction, so that other reads do not count.
            let read = Statement(
                "rows_read",
                """
                SELECT (coalesce(idx_tup_fetch, 0) + seq_tup_read)::bigint FROM pg_stat_xact_user_tables
                WHERE relname = 'events'
                """)
            let rows = try await session.run { connection in
                try connection.transaction {
                    let status = try ProjectionStatus.all(on: connection)
                    #expect(status.count == ProjectionName.allCases.count)
                    #expect(status.allSatisfy { $0.lag == 3_000 && $0.secondsBehind >= 3_600 })
                    return try connection.query(read).int8(0, 0)
                }
            }
            await session.close()
            #expect(rows == Int64(ProjectionName.allCases.count))
        }
    }
}
