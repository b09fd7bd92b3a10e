import Postgres
import Testing

@Suite struct `Array round trips` {
    @Test func `arrays of each kind equal their SQL literals`() throws {
        let result = try TestServer.connect().query(
            Statement(
                "arrays",
                """
                SELECT $1 = '{1,-2}'::int8[], $2 = '{3}'::int4[], $3 = '{t,f}'::bool[],
                       $4 = array['a', 'ü', '']::text[], $5 = array['\\x00ff', '']::bytea[],
                       $6 = array['00000000-0000-0000-0000-000000000005']::uuid[],
                       $7 = array['1970-01-01 00:00:01Z']::timestamptz[]
                """),
            [
                .int8s([1, -2]), .int4s([3]), .bools([true, false]), .texts(["a", "ü", ""]),
                .byteArrays([[0, 255], []]), .uuids([5]), .timestamps([1_000_000]),
            ])
        for column in 0..<result.columnCount { #expect(try result.bool(0, column)) }
    }

    @Test func `nulls inside arrays keep their index`() throws {
        let result = try TestServer.connect().query(
            Statement(
                "optionals",
                """
                SELECT $1 IS NOT DISTINCT FROM '{1,null}'::int8[],
                       $2 IS NOT DISTINCT FROM '{null,b}'::text[],
                       $3 IS NOT DISTINCT FROM array[null, '\\x01']::bytea[],
                       $4 IS NOT DISTINCT FROM
                         array['00000000-0000-0000-0000-000000000005', null]::uuid[],
                       $5 IS NOT DISTINCT FROM array[null, '1970-01-01Z']::timestamptz[],
                       $6 IS NOT DISTINCT FROM '{f,null,t}'::bool[]
                """),
            [
                .optionalInt8s([1, nil]), .optionalTexts([nil, "b"]),
                .optionalByteArrays([nil, [1]]), .optionalUUIDs([5, nil]),
                .optionalTimestamps([nil, 0]), .optionalBools([false, nil, true]),
            ])
        for column in 0..<result.columnCount { #expect(try result.bool(0, column)) }
    }

    @Test(arguments: [
        Parameter.int8s([]), .int4s([]), .bools([]), .texts([]), .byteArrays([]), .uuids([]),
        .timestamps([]), .optionalInt8s([]), .optionalTexts([]), .optionalByteArrays([]),
        .optionalUUIDs([]), .optionalTimestamps([]), .optionalBools([]),
    ])
    func `an empty array has no elements and is not null`(parameter: Parameter) throws {
        let result = try TestServer.connect().query(
            Statement("empty", "SELECT cardinality($1)"), [parameter])
        #expect(try result.int4(0, 0) == 0)
    }

    @Test func `arrays are read back`() throws {
        let result = try TestServer.connect().query(
            Statement("read", "SELECT $1, $2, $3, $4, '{}'::text[]"),
            [
                .int8s([.min, 0, .max]), .texts(["", "ä"]), .uuids([.max, 0]),
                .byteArrays([[], [1, 2]]),
            ])
        #expect(try result.int8Array(0, 0) == [.min, 0, .max])
        #expect(try result.textArray(0, 1) == ["", "ä"])
        #expect(try result.uuidArray(0, 2) == [.max, 0])
        #expect(try result.bytesArray(0, 3) == [[], [1, 2]])
        #expect(try result.textArray(0, 4) == [])
    }

    @Test func `an array with a null, two dimensions or another type is refused`() throws {
        let result = try TestServer.connect().query(
            Statement(
                "odd", "SELECT '{1,null}'::int8[], '{{1},{2}}'::int8[], '{1}'::int4[], 1::int8"))
        for column in 0..<4 {
            #expect(throws: PostgresError.self) { try result.int8Array(0, column) }
        }
    }

    @Test func `unnest pairs columns of three hundred elements`() throws {
        let numbers = (0..<300).map(Int64.init)
        let result = try TestServer.connect().query(
            Statement(
                "unnest",
                """
                SELECT n, t, u FROM unnest($1::int8[], $2::text[], $3::uuid[]) AS r (n, t, u)
                ORDER BY n
                """),
            [
                .int8s(numbers), .texts(numbers.map { "row \($0)" }),
                .optionalUUIDs(numbers.map { $0 % 2 == 0 ? UInt128($0) : nil }),
            ])
        #expect(result.rowCount == 300)
        #expect(result.rowsAffected == 300)
        #expect(try result.text(299, 1) == "row 299")
        #expect(try result.optionalUUID(298, 2) == 298)
        #expect(try result.optionalUUID(299, 2) == nil)
    }
}
