extension QueryResult {
    /// A `bigint`, `integer` or `smallint`.
    package func int8(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try required(optionalInt8(row, column), row, column)
    }

    /// A `bigint`, `integer` or `smallint`, or nil for null.
    package func optionalInt8(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let bytes = unsafe try value(row, column) else { return nil }
        switch type(of: column) {
        case TypeOID.int8: return unsafe try bytes.integer(Int64.self)
        case TypeOID.int4: return Int64(unsafe try bytes.integer(Int32.self))
        case TypeOID.int2: return Int64(unsafe try bytes.integer(Int16.self))
        default: throw mismatch(column, expected: "int8")
        }
    }

    /// An `integer` or `smallint`.
    package func int4(_ row: Int, _ column: Int) throws(PostgresError) -> Int32 {
        try required(optionalInt4(row, column), row, column)
    }

    /// An `integer` or `smallint`, or nil for null.
    package func optionalInt4(_ row: Int, _ column: Int) throws(PostgresError) -> Int32? {
        guard let bytes = unsafe try value(row, column) else { return nil }
        switch type(of: column) {
        case TypeOID.int4: return unsafe try bytes.integer(Int32.self)
        case TypeOID.int2: return Int32(unsafe try bytes.integer(Int16.self))
        default: throw mismatch(column, expected: "int4")
        }
    }

    /// A `boolean`.
    package func bool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool {
        try required(optionalBool(row, column), row, column)
    }

    /// A `boolean`, or nil for null.
    package func optionalBool(_ row: Int, _ column: Int) throws(PostgresError) -> Bool? {
        guard let bytes = unsafe try value(row, column) else { return nil }
        guard type(of: column) == TypeOID.bool else { throw mismatch(column, expected: "bool") }
        return unsafe try bytes.integer(UInt8.self) != 0
    }

    /// Any type whose binary form is its text, such as `text`, `json`, an enumeration; also
    /// `jsonb`.
    package func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        try required(optionalText(row, column), row, column)
    }

    /// As `text`, or nil for null.
    package func optionalText(_ row: Int, _ column: Int) throws(PostgresError) -> String? {
        guard let bytes = unsafe try value(row, column) else { return nil }
        if type(of: column) == TypeOID.jsonb {
            // The binary form of jsonb is a version byte, 1, and then text.
            guard unsafe bytes.first == 1 else { throw mismatch(column, expected: "jsonb") }
            return unsafe try UnsafeRawBufferPointer(rebasing: bytes.dropFirst()).text()
        }
        guard TypeOID.isTextual(type(of: column)) else { throw mismatch(column, expected: "text") }
        return unsafe try bytes.text()
    }

    /// A `bytea`.
    package func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        try required(optionalBytes(row, column), row, column)
    }

    /// A `bytea`, or nil for null.
    package func optionalBytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8]? {
        guard let bytes = unsafe try value(row, column) else { return nil }
        guard type(of: column) == TypeOID.bytea else { throw mismatch(column, expected: "bytea") }
        return unsafe [UInt8](bytes)
    }

    /// A `uuid`, most significant byte first.
    package func uuid(_ row: Int, _ column: Int) throws(PostgresError) -> UInt128 {
        try required(optionalUUID(row, column), row, column)
    }

    /// A `uuid`, or nil for null.
    package func optionalUUID(_ row: Int, _ column: Int) throws(PostgresError) -> UInt128? {
        guard let bytes = unsafe try value(row, column) else { return nil }
        guard type(of: column) == TypeOID.uuid else { throw mismatch(column, expected: "uuid") }
        return unsafe try bytes.integer(UInt128.self)
    }

    /// A `timestamptz`, in microseconds since 1970-01-01 UTC; infinities throw.
    package func timestamp(_ row: Int, _ column: Int) throws(PostgresError) -> Int64 {
        try required(optionalTimestamp(row, column), row, column)
    }

    /// A `timestamptz`, or nil for null; infinities throw.
    package func optionalTimestamp(_ row: Int, _ column: Int) throws(PostgresError) -> Int64? {
        guard let bytes = unsafe try value(row, column) else { return nil }
        guard type(of: column) == TypeOID.timestamptz else {
            throw mismatch(column, expected: "timestamptz")
        }
        return unsafe try bytes.timestamp()
    }

    private func required<Value>(
        _ value: Value?, _ row: Int, _ column: Int
    ) throws(PostgresError) -> Value {
        guard let value else { throw unexpectedNull(row, column) }
        return value
    }
}
