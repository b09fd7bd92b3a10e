import Postgres
import Synchronization
import Testing

@Suite struct `Sessions` {
    static let backend = Statement("backend", "SELECT pg_backend_pid()")

    /// A counter shared by many tasks.
    final class Tally: Sendable {
        private let count = Mutex(0)
        var value: Int {
            get { count.withLock { $0 } }
            set { count.withLock { $0 = newValue } }
        }
    }

    func makeSession(
        onConnect: (@Sendable (Connection) throws -> Void)? = nil
    ) throws -> Session {
        try Session(
            url: TestServer.url(), applicationName: "session-tests", connectTimeout: .seconds(20),
            onConnect: onConnect)
    }

    @Test func `calls share one connection that was prepared once`() async throws {
        let connects = Tally()
        let session = try makeSession { connection in
            connects.value += 1
            try connection.execute("SET lock_timeout = '1234ms'")
        }
        let first = try await session.run { try $0.query(Self.backend).int4(0, 0) }
        let second = try await session.run { try $0.query(Self.backend).int4(0, 0) }
        let setting = try await session.run {
            try $0.query(Statement("show", "SELECT current_setting('lock_timeout')")).text(0, 0)
        }
        #expect(first == second)
        #expect(setting == "1234ms")
        #expect(connects.value == 1)
        await session.close()
    }

    @Test func `a connection that ended while idle is replaced transparently`() async throws {
        let session = try makeSession()
        let first = try await session.run { try $0.query(Self.backend).int4(0, 0) }
        try TestServer.terminate(first)
        let second = try await session.run { try $0.query(Self.backend).int4(0, 0) }
        #expect(first != second)
        await session.close()
    }

    @Test func `a connection to a server without writes is replaced`() async throws {
        let session = try makeSession()
        let first = try await session.run { try $0.query(Self.backend).int4(0, 0) }
        await #expect(throws: PostgresError.self) {
            try await session.run { connection in
                try connection.execute("SET default_transaction_read_only = on")
                try connection.execute(
                    "CREATE TEMP TABLE t (n int); CREATE TABLE read_only (n int)")
            }
        }
        try await TestServer.wait(for: "another connection") {
            let now = try? await session.run { try $0.query(Self.backend).int4(0, 0) }
            return now.map { $0 != first } ?? false
        }
        await session.close()
    }

    @Test func `a connection lost in a call fails that call and is replaced after it`()
        async throws
    {
        let session = try makeSession()
        await #expect(throws: PostgresError.self) {
            try await session.run { connection in
                try TestServer.terminate(connection.backendProcessID)
                _ = try connection.query(Self.backend)
            }
        }
        let value = try await session.run {
            try $0.query(Statement("one", "SELECT 1")).int4(0, 0)
        }
        #expect(value == 1)
        await session.close()
    }

    @Test(.timeLimit(.minutes(10)))
    func `one deadline covers all calls of a run, and preparing a connection`()
        async throws
    {
        // Each call alone would be in time.
        let session = try Session(
            url: TestServer.url(), applicationName: "session-tests", runDeadline: .seconds(5))
        let calls = Tally()
        await #expect(throws: PostgresError.self) {
            try await session.run { connection in
                for _ in 0..<5 {
                    _ = try connection.query(Statement("sleep", "SELECT pg_sleep(2)"))
                    calls.value += 1
                }
            }
        }
        #expect(calls.value < 3)
        // The next run has a deadline of its own.
        try await session.run { _ = try $0.query(Self.backend) }
        await session.close()
        let preparing = try Session(
            url: TestServer.url(), applicationName: "session-tests", runDeadline: .seconds(5)
        ) { try $0.execute("SELECT pg_sleep(8)") }
        await #expect(throws: PostgresError.self) { try await preparing.run { _ in } }
    }

    @Test func `a transaction left open is rolled back`() async throws {
        let session = try makeSession()
        try await session.run { try $0.execute("BEGIN; CREATE TEMP TABLE left_open ()") }
        let isOpen = try await session.run { $0.isInTransaction }
        #expect(!isOpen)
        await #expect(throws: PostgresError.self) {
            try await session.run { try $0.execute("SELECT * FROM left_open") }
        }
        await session.close()
    }

    @Test func `calls run one after another on one executor`() async throws {
        let session = try makeSession()
        let counter = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await session.run { connection in
                        session.preconditionIsolated()
                        let before = counter.value
                        _ = try connection.query(Self.backend)
                        counter.value = before + 1
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(counter.value == 50)
        await session.close()
    }

    @Test func `an unreachable server is not tried again at once`() async throws {
        let session = Session(
            url: "postgresql://nobody@127.0.0.1:1/none", applicationName: "session-tests")
        for _ in 0..<3 {
            await #expect {
                try await session.run { _ in }
            } throws: { error in
                guard case PostgresError.connectionFailed = error else { return false }
                return true
            }
        }
    }

    @Test func `a failed preparation opens no connection and is retried later`()
        async throws
    {
        let attempts = Tally()
        let session = try makeSession { connection in
            attempts.value += 1
            if attempts.value == 1 { try connection.execute("SELECT 1/0") }
        }
        await #expect(throws: PostgresError.self) { try await session.run { _ in } }
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do {
                try await session.run { _ in }
                break
            } catch PostgresError.connectionFailed {
                guard ContinuousClock.now < deadline else {
                    throw TestServer.Unfulfilled(what: "the session to connect again")
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(attempts.value == 2)
        await session.close()
    }
}
