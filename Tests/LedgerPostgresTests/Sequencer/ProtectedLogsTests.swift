import Ledger
import LedgerEngine
import LedgerTestSupport
import Postgres
import Testing

@testable import LedgerPostgres

/// The lock of a head whose log is known to be protected, which the sequencer uses on Citus.
@Suite struct ProtectedLogsTests {
    @Test func `a protected log is looked into once, and its head cannot lose the protection`()
        async throws
    {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database, isProtected: true) { fixture in
                _ = try await fixture.signIn(subject("google", "ada"))
                let session = Session(url: database.runtimeURL, applicationName: "a test")
                let logs = ProtectedLogs()
                let looks = try await session.run { connection in
                    try (0..<2).map { _ in try Self.load(logs, on: connection) }
                }
                #expect(looks == [true, false])
                try await database.asRuntime.execute(
                    "UPDATE ledger_head SET mac = NULL, protected_from = NULL")
                await #expect(throws: BatchFault.self) {
                    _ = try await session.run { try Self.load(logs, on: $0) }
                }
                logs.forget()
                #expect(Self.looksIntoLog(HeadLoad.lock([.default], protected: logs)))
                await session.close()
            }
        }
    }

    @Test func `a log without protection is looked into each time`() async throws {
        try await ScratchDatabase.with { database in
            try await SequencerFixture.with(database) { fixture in
                _ = try await fixture.signIn(subject("google", "ada"))
                let session = Session(url: database.runtimeURL, applicationName: "a test")
                let logs = ProtectedLogs()
                let looks = try await session.run { connection in
                    try (0..<2).map { _ in try Self.load(logs, on: connection) }
                }
                #expect(looks == [true, true])
                await session.close()
            }
        }
    }

    /// Locks and reads the head; returns whether the statement looked into the log.
    private static func load(_ logs: ProtectedLogs, on connection: Connection) throws -> Bool {
        let call = HeadLoad.lock([.default], protected: logs)
        let result = try connection.query(call.statement, call.parameters)
        var tenants: [TenantID: TenantBatch] = [:]
        try HeadLoad.read(
            result, into: &tenants, keyring: SequencerFixture.keyring, protected: logs)
        #expect(tenants[.default]?.firstPosition == LogPosition(4))
        return looksIntoLog(call)
    }

    private static func looksIntoLog(_ call: Call) -> Bool {
        call.statement.sql.contains("FROM events")
    }
}
