import Postgres
import Testing

@Suite struct `Scalar round trips` {
    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func `an int8 is returned unchanged`(value: Int64) throws {
        let result = try TestServer.connect().query(
            Statement("echo", "SELECT $1::int8, ($1::int8)::text"), [.int8(value)])
        #expect(try result.int8(0, 0) == value)
        #expect(try result.text(0, 1) == String(value))
    }

    @Test(arguments: [Int32.min, -1, 0, 1, .max])
    func `an int4 is returned unchanged, also as an int8`(value: Int32) throws {
        let result = try TestServer.connect().query(
            Statement("echo", "SELECT $1::int4, ($1::int4)::text"), [.int4(value)])
        #expect(try result.int4(0, 0) == value)
        #expect(try result.int8(0, 0) == Int64(value))
        #expect(try result.text(0, 1) == String(value))
    }

    @Test func `a smallint is read as int4 and int8`() throws {
        let result = try TestServer.connect().query(Statement("small", "SELECT -7::int2"))
        #expect(try result.int4(0, 0) == -7)
        #expect(try result.int8(0, 0) == -7)
    }

    @Test(arguments: [true, false])
    func `a bool is returned unchanged`(value: Bool) throws {
        let result = try TestServer.connect().query(
            Statement("echo", "SELECT $1::bool, ($1::bool)::text"), [.bool(value)])
        #expect(try result.bool(0, 0) == value)
        #expect(try result.text(0, 1) == String(value))
    }

    @Test(arguments: ["", "a", "Grüße, 世界 👩‍👩‍👧 e\u{301}", "\u{1}\u{FFFF}\u{10FFFF}", "'; --\\"])
    func `a text is returned byte for byte`(value: String) throws {
        let result = try TestServer.connect().query(
            Statement("echo", "SELECT $1::text, octet_length($1), convert_to($1, 'UTF8')"),
            [.text(value)])
        #expect(try Array(result.text(0, 0).utf8) == Array(value.utf8))
        #expect(try Int(result.int4(0, 1)) == value.utf8.count)
        #expect(try result.bytes(0, 2) == Array(value.utf8))
    }

    @Test func `a mebibyte of bytes is returned unchanged`() throws {
        let value = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let result = try TestServer.connect().query(
            Statement("echo", "SELECT $1::bytea, md5($1)"), [.bytes(value)])
        #expect(try result.bytes(0, 0) == value)
        #expect(try result.text(0, 1).count == 32)
    }

    @Test func `empty bytes are not null`() throws {
        let result = try TestServer.connect().query(
            Statement("echo", "SELECT $1::bytea, $1 IS NULL"), [.bytes([])])
        #expect(try result.bytes(0, 0) == [])
        #expect(try result.bool(0, 1) == false)
    }

    @Test func `a uuid is written most significant byte first`() throws {
        let value: UInt128 = 0x0198_c0de_0000_7abc_8def_0123_4567_89ab
        let result = try TestServer.connect().query(
            Statement("echo", "SELECT $1::uuid, ($1::uuid)::text"), [.uuid(value)])
        #expect(try result.uuid(0, 0) == value)
        #expect(try result.text(0, 1) == "0198c0de-0000-7abc-8def-0123456789ab")
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000"), (-1, "1969-12-31T23:59:59.999999"),
        (946_684_800_000_000, "2000-01-01T00:00:00.000000"),
        (1_763_676_000_123_456, "2025-11-20T22:00:00.123456"),
    ])
    func `a timestamp counts microseconds since 1970`(value: Int64, text: String) throws {
        let result = try TestServer.connect().query(
            Statement(
                "echo",
                """
                SELECT $1::timestamptz,
                       to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')
                """),
            [.timestamp(value)])
        #expect(try result.timestamp(0, 0) == value)
        #expect(try result.text(0, 1) == text)
    }

    @Test func `jsonb, json, names and enumerations are read as text`() throws {
        let connection = try TestServer.connect(
            "CREATE TYPE pg_temp.mood AS ENUM ('sad', 'happy')")
        let result = try connection.query(
            Statement(
                "texts",
                """
                SELECT $1::jsonb, '{"b":1}'::json, 'n'::name, 'happy'::pg_temp.mood,
                       'v'::varchar(3)
                """),
            [.text(#"{"a": [1]}"#)])
        #expect(try result.text(0, 0) == #"{"a": [1]}"#)
        #expect(try result.text(0, 1) == #"{"b":1}"#)
        #expect(try result.text(0, 2) == "n")
        #expect(try result.text(0, 3) == "happy")
        #expect(try result.text(0, 4) == "v")
    }

    @Test func `a null is nil in each optional variant and an error elsewhere`() throws {
        let result = try TestServer.connect().query(
            Statement(
                "nulls",
                "SELECT $1::int8, $2::int4, $3::bool, $4::text, $5::bytea, $6::uuid, $7::timestamptz"
            ),
            Array(repeating: .null, count: 7))
        #expect(try result.optionalInt8(0, 0) == nil)
        #expect(try result.optionalInt4(0, 1) == nil)
        #expect(try result.optionalBool(0, 2) == nil)
        #expect(try result.optionalText(0, 3) == nil)
        #expect(try result.optionalBytes(0, 4) == nil)
        #expect(try result.optionalUUID(0, 5) == nil)
        #expect(try result.optionalTimestamp(0, 6) == nil)
        #expect(try result.isNull(0, 6))
        #expect(throws: PostgresError.unexpectedResult("row 0, column 0 is null")) {
            try result.int8(0, 0)
        }
        #expect(throws: PostgresError.unexpectedResult("row 0, column 3 is null")) {
            try result.text(0, 3)
        }
    }
}
