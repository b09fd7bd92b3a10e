import Postgres
import Testing

@Suite struct `Prepared statements` {
    static let prepared = Statement(
        "prepared", "SELECT count(*) FROM pg_prepared_statements WHERE name LIKE '%_subject'")

    @Test func `a statement is prepared once, however often it is used`() throws {
        let connection = try TestServer.connect()
        let subject = Statement("subject", "SELECT $1::int8")
        _ = try connection.pipeline([
            Call(subject, [.int8(1)]), Call(subject, [.int8(2)]), Call(subject, [.null]),
        ])
        _ = try connection.query(subject, [.int8(3)])
        #expect(try connection.query(Self.prepared).int8(0, 0) == 1)
    }

    @Test func `a statement that could not be prepared is prepared again`() throws {
        let connection = try TestServer.connect()
        let subject = Statement("subject", "SELECT count(*) FROM made_later")
        for _ in 0..<2 {
            #expect(state { _ = try connection.query(subject) } == .undefinedTable)
        }
        try connection.execute("CREATE TEMP TABLE made_later ()")
        #expect(try connection.query(subject).int8(0, 0) == 0)
        #expect(try connection.query(subject).int8(0, 0) == 0)
    }

    @Test func `a statement whose preparation was skipped is prepared again`() throws {
        let connection = try TestServer.connect()
        let subject = Statement("subject", "SELECT $1::int8")
        #expect(
            state {
                _ = try connection.pipeline([
                    Call(Statement("fail", "SELECT 1/0")), Call(subject, [.int8(1)]),
                ])
            } == .divisionByZero)
        #expect(try connection.query(subject, [.int8(2)]).int8(0, 0) == 2)
    }

    @Test func `another type of parameter is never read as the first`() throws {
        let connection = try TestServer.connect()
        let subject = Statement("subject", "SELECT pg_typeof($1)::text, $1::text")
        let values: [(Parameter, String, String?)] = [
            (.int8(65), "bigint", "65"), (.text("65"), "text", "65"), (.int8(66), "bigint", "66"),
            (.null, "bigint", nil), (.bool(true), "boolean", "true"),
        ]
        for (parameter, type, text) in values {
            let result = try connection.query(subject, [parameter])
            #expect(try result.text(0, 0) == type)
            #expect(try result.optionalText(0, 1) == text)
        }
    }

    @Test func `a statement first used with a null accepts a value later`() throws {
        let connection = try TestServer.connect()
        let subject = Statement("subject", "SELECT $1::int4 + 1")
        #expect(try connection.query(subject, [.null]).optionalInt4(0, 0) == nil)
        #expect(try connection.query(subject, [.int4(1)]).int4(0, 0) == 2)
        // A bigint where the server had inferred an integer: cast, not misread.
        #expect(try connection.query(subject, [.int8(2)]).int4(0, 0) == 3)
    }

    @Test func `two statements cannot share a name`() throws {
        let connection = try TestServer.connect()
        _ = try connection.query(Statement("subject", "SELECT 1"))
        #expect(throws: PostgresError.self) {
            try connection.query(Statement("subject", "SELECT 2"))
        }
        #expect(connection.isUsable)
    }

    @Test func `a plan that the server discarded is prepared again`() throws {
        let connection = try TestServer.connect("CREATE TEMP TABLE shape (a int8)")
        let subject = Statement("subject", "SELECT * FROM shape")
        #expect(try connection.query(subject).columnCount == 1)
        try connection.execute("ALTER TABLE shape ADD COLUMN b int8")
        #expect(state { _ = try connection.query(subject) } == .featureNotSupported)
        #expect(try connection.query(subject).columnCount == 2)

        try connection.execute("DEALLOCATE ALL; DROP TABLE shape; CREATE TEMP TABLE shape ()")
        #expect(state { _ = try connection.query(subject) } == .invalidStatementName)
        #expect(try connection.query(subject).columnCount == 0)
    }

    @Test func `a statement with U+0000 is refused, not truncated`() throws {
        let connection = try TestServer.connect()
        #expect(throws: PostgresError.self) {
            try connection.query(Statement("subject", "SELECT 1 \0 + nonsense"))
        }
        #expect(connection.isUsable)
    }

    @Test func `a long name does not collide with another of the same prefix`() throws {
        let connection = try TestServer.connect()
        let name = String(repeating: "n", count: 80)
        #expect(try connection.query(Statement(name + "1", "SELECT 1")).int4(0, 0) == 1)
        #expect(try connection.query(Statement(name + "2", "SELECT 2")).int4(0, 0) == 2)
        #expect(try connection.query(Statement(name + "1", "SELECT 1")).int4(0, 0) == 1)
    }
}
