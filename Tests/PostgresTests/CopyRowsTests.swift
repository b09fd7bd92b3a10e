import Postgres
import Testing

@Suite struct `Copying rows` {
    @Test func `values are copied unchanged`() throws {
        let connection = try TestServer.connect()
        var rows = 0
        try connection.copyRows(
            """
            COPY (SELECT g::bigint, '00010203-0405-0607-0809-0a0b0c0d0e0f'::uuid, 'é'::text,
                '\\x00ff'::bytea, NULL::text FROM generate_series(1, 5000) g)
            TO STDOUT (FORMAT binary)
            """
        ) { row in
            rows += 1
            #expect(row.columnCount == 5)
            let number = try row.int8(0)
            #expect(number == Int64(rows))
            let id = try row.uuid(1)
            #expect(id == 0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)
            let text = try row.text(2)
            #expect(text == "é")
            #expect(row.bytes(3) == [0x00, 0xFF])
            #expect(row.isNull(4) && !row.isNull(3))
            #expect((try? row.int8(2)) == nil && (try? row.text(4)) == nil)
        }
        #expect(rows == 5000)
        #expect(try connection.query(Statement("one", "SELECT 1")).int4(0, 0) == 1)
    }

    @Test func `an empty copy has no rows, and text form is refused`() throws {
        let connection = try TestServer.connect()
        try connection.copyRows("COPY (SELECT 1 WHERE false) TO STDOUT (FORMAT binary)") { _ in
            Issue.record("there is no row")
        }
        #expect(throws: PostgresError.self) {
            try connection.copyRows("COPY (SELECT generate_series(1, 9)) TO STDOUT") { _ in }
        }
    }

    @Test func `rows inserted as values equal those that are copied`() throws {
        let columns = """
            (a bool, b int8, c uuid, d timestamptz, e text, f text[], g text[], h text)
            """
        let connection = try TestServer.connect(
            "CREATE TEMP TABLE copied \(columns); CREATE TEMP TABLE inserted \(columns)")
        var rows = CopyRows()
        for number in 1...3 as ClosedRange<Int64> {
            rows.row(columns: 8)
            rows.bool(number == 1)
            rows.int8(-number)
            rows.uuid(number == 2 ? nil : UInt128(number))
            rows.timestamp(number * 1_000_000)
            rows.text("é\(number)")
            rows.texts(["a", ""])
            rows.texts([])
            rows.text(number == 1 ? "" : nil)
        }
        try connection.copyIn("COPY copied FROM STDIN (FORMAT binary)", &rows)
        let insert = Statement(
            "insert_rows", "INSERT INTO inserted VALUES ($1, $2, $3, $4, $5, $6, $7, $8)")
        let calls = try rows.values().map { Call(insert, $0) }
        _ = try connection.pipeline(calls)
        let differing = Statement(
            "differing",
            """
            SELECT count(*) + abs(3 - (SELECT count(*) FROM copied)) FROM (
                (TABLE copied EXCEPT ALL TABLE inserted)
                UNION ALL (TABLE inserted EXCEPT ALL TABLE copied)) t
            """)
        #expect(try connection.query(differing).int8(0, 0) == 0)
    }

    @Test func `no values are read back of a row that Postgres cannot store`() {
        #expect(throws: PostgresError.self) {
            var rows = CopyRows()
            rows.row(columns: 1)
            rows.text("a\u{0}")
            _ = try rows.values()
        }
    }

    @Test func `an image of values equals the image of a row with those values`() throws {
        let connection = try TestServer.connect()
        var expected = RowImage()
        expected.int8(-5)
        expected.int8(nil)
        expected.int2(7)
        expected.uuid(1)
        expected.text("a")
        expected.text("")
        expected.bytes([1, 2])
        expected.timestamp(1_000_000)
        expected.textArray([])
        expected.textArray(["apple", ""])
        let key = RowHashKey()
        expected.digest(rowDigest(of: "secret", key))
        expected.digest(nil)
        try connection.copyRows(
            """
            COPY (SELECT '-5'::bigint, NULL::bigint, 7::smallint,
                '00000000-0000-0000-0000-000000000001'::uuid, 'a'::text, ''::text, '\\x0102'::bytea,
                '1970-01-01T00:00:01Z'::timestamptz, '{}'::text[], '{apple,""}'::text[],
                'secret'::text, NULL::text)
            TO STDOUT (FORMAT binary)
            """
        ) { row in
            var stored = RowImage()
            stored.add(row, 0..<10)
            stored.addDigest(of: row, 10, key)
            stored.addDigest(of: row, 11, key)
            #expect(stored == expected)
            #expect(stored.hash(key) == expected.hash(key))
            #expect(stored.hash(RowHashKey()) != expected.hash(key))
        }
    }

    @Test func `sums depend on every row but not on the order`() {
        var one = RowMultiset()
        var other = RowMultiset()
        for hash in [UInt64(3), .max, 9] { one.add(hash) }
        for hash in [UInt64(9), 3] { other.add(hash) }
        #expect(one != other)
        var rest = RowMultiset()
        rest.add(.max)
        other.merge(rest)
        #expect(one == other)
    }
}
