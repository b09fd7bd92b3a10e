import Postgres
import Testing

@Suite struct `Transactions` {
    static let insert = Statement("insert", "INSERT INTO kept VALUES ($1)")
    static let count = Statement("count", "SELECT count(*) FROM kept")

    struct Unrelated: Error {}

    func connect() throws -> Connection {
        try TestServer.connect("CREATE TEMP TABLE kept (n int8 PRIMARY KEY)")
    }

    @Test func `the writes of a body are committed when it returns`() throws {
        let connection = try connect()
        let value = try connection.transaction {
            _ = try connection.query(Self.insert, [.int8(1)])
            #expect(connection.isInTransaction)
            return 42
        }
        #expect(value == 42)
        #expect(!connection.isInTransaction)
        #expect(try connection.query(Self.count).int8(0, 0) == 1)
    }

    @Test func `the writes of a body are undone when it throws`() throws {
        let connection = try connect()
        #expect(throws: Unrelated.self) {
            try connection.transaction {
                _ = try connection.query(Self.insert, [.int8(1)])
                throw Unrelated()
            }
        }
        #expect(connection.isUsable)
        #expect(!connection.isInTransaction)
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }

    @Test func `an error that the body swallows fails the commit`() throws {
        let connection = try connect()
        #expect(
            state {
                try connection.transaction {
                    _ = try connection.query(Self.insert, [.int8(1)])
                    _ = try? connection.query(Self.insert, [.int8(1)])
                }
            } == .inFailedTransaction)
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }

    @Test func `a transaction inside a transaction is refused and undoes the outer one`() throws {
        let connection = try connect()
        #expect(throws: PostgresError.self) {
            try connection.transaction {
                _ = try connection.query(Self.insert, [.int8(1)])
                try connection.transaction {}
            }
        }
        #expect(try connection.query(Self.count).int8(0, 0) == 0)
    }

    @Test func `the opening statement chooses the isolation level`() throws {
        let connection = try connect()
        let snapshot = Statement("snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let level = try connection.transaction(snapshot) {
            try connection.query(
                Statement("level", "SELECT current_setting('transaction_isolation')")
            ).text(0, 0)
        }
        #expect(level == "repeatable read")
    }

    @Test func `a connection that ends inside a body is lost, not rolled back`() throws {
        let connection = try connect()
        #expect {
            try connection.transaction {
                _ = try connection.query(Self.insert, [.int8(1)])
                try TestServer.terminate(connection.backendProcessID)
            }
        } throws: { error in
            guard case PostgresError.connectionLost = error else { return false }
            return true
        }
        #expect(!connection.isUsable)
    }
}
