import Postgres
import Testing

@Suite struct `Unexpected values` {
    @Test func `a column of another type is refused, though its length would fit`() throws {
        let result = try TestServer.connect().query(
            Statement("eight", "SELECT 'eightlen'::text, 1::int8, '\\x01'::bytea"))
        #expect(throws: PostgresError.self) { try result.int8(0, 0) }
        #expect(throws: PostgresError.self) { try result.text(0, 1) }
        #expect(throws: PostgresError.self) { try result.int4(0, 1) }
        #expect(throws: PostgresError.self) { try result.timestamp(0, 1) }
        #expect(throws: PostgresError.self) { try result.bool(0, 2) }
        #expect(throws: PostgresError.self) { try result.uuid(0, 2) }
        #expect(throws: PostgresError.self) { try result.bytes(0, 0) }
    }

    @Test func `a row or column that does not exist is refused`() throws {
        let result = try TestServer.connect().query(Statement("one", "SELECT 1"))
        #expect(throws: PostgresError.self) { try result.int4(1, 0) }
        #expect(throws: PostgresError.self) { try result.int4(-1, 0) }
        #expect(throws: PostgresError.self) { try result.int4(0, 1) }
        #expect(throws: PostgresError.self) { try result.isNull(0, -1) }
    }

    @Test func `a column is found by its name, if exactly one has it`() throws {
        let result = try TestServer.connect().query(
            Statement("named", "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS b WHERE false"))
        #expect(try [result.column("a"), result.column("c")] == [0, 2])
        #expect(throws: PostgresError.self) { try result.column("b") }
        #expect(throws: PostgresError.self) { try result.column("d") }
    }

    @Test(arguments: ["infinity", "-infinity"])
    func `an infinite timestamp is refused`(text: String) throws {
        let result = try TestServer.connect().query(
            Statement("infinite", "SELECT ($1::text)::timestamptz"), [.text(text)])
        #expect(throws: PostgresError.unexpectedResult("a timestamp is out of range")) {
            try result.timestamp(0, 0)
        }
    }

    @Test(arguments: [
        Parameter.text("a\0b"), .texts(["fine", "\0"]), .optionalTexts([nil, "x\0"]),
        .timestamp(.min), .timestamps([0, .min]), .optionalTimestamps([.min]),
    ])
    func `a value that Postgres cannot store is refused before anything is sent`(
        parameter: Parameter
    ) throws {
        let connection = try TestServer.connect("CREATE TEMP TABLE marks (n int8)")
        let mark = Statement("mark", "INSERT INTO marks VALUES (1)")
        let echo = Statement("echo", "SELECT $1")
        #expect(throws: PostgresError.self) {
            try connection.pipeline([Call(mark), Call(echo, [parameter])])
        }
        #expect(connection.isUsable)
        let count = try connection.query(Statement("count", "SELECT count(*) FROM marks"))
        #expect(try count.int8(0, 0) == 0)
    }

    @Test func `a script with U+0000 is refused entirely`() throws {
        let connection = try TestServer.connect()
        #expect(throws: PostgresError.self) { try connection.execute("SELECT 1; \0 SELECT 2") }
        #expect(connection.isUsable)
    }
}
