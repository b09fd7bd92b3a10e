extension QueryResult {
    /// A `bigint[]` of one dimension without nulls.
    package func int8Array(_ row: Int, _ column: Int) throws(PostgresError) -> [Int64] {
        unsafe try array(row, column, of: TypeOID.int8) { bytes throws(PostgresError) in
            unsafe try bytes.integer(Int64.self)
        }
    }

    /// A `text[]` of one dimension without nulls.
    package func textArray(_ row: Int, _ column: Int) throws(PostgresError) -> [String] {
        unsafe try array(row, column, of: TypeOID.text) { bytes throws(PostgresError) in
            unsafe try bytes.text()
        }
    }

    /// A `bytea[]` of one dimension without nulls.
    package func bytesArray(_ row: Int, _ column: Int) throws(PostgresError) -> [[UInt8]] {
        unsafe try array(row, column, of: TypeOID.bytea) { bytes throws(PostgresError) in
            unsafe [UInt8](bytes)
        }
    }

    /// A `uuid[]` of one dimension without nulls.
    package func uuidArray(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt128] {
        unsafe try array(row, column, of: TypeOID.uuid) { bytes throws(PostgresError) in
            unsafe try bytes.integer(UInt128.self)
        }
    }

    /// Reads an array's header, then the length and bytes of each element.
    private func array<Element>(
        _ row: Int, _ column: Int, of element: UInt32,
        _ decode: (UnsafeRawBufferPointer) throws(PostgresError) -> Element
    ) throws(PostgresError) -> [Element] {
        guard let bytes = unsafe try value(row, column) else { throw unexpectedNull(row, column) }
        var rest = unsafe bytes[...]
        let dimensions = unsafe try Self.int4(from: &rest)
        _ = unsafe try Self.int4(from: &rest)
        let type = UInt32(bitPattern: unsafe try Self.int4(from: &rest))
        guard type == element else { throw mismatch(column, expected: "array of type \(element)") }
        guard dimensions != 0 else { return [] }
        guard dimensions == 1 else { throw mismatch(column, expected: "array of one dimension") }
        let length = Int(unsafe try Self.int4(from: &rest))
        _ = unsafe try Self.int4(from: &rest)
        // Each element takes at least four bytes, so a length cannot exceed the data.
        guard length >= 0, unsafe length <= rest.count / 4 else {
            throw .unexpectedResult("an array ends early")
        }
        var elements: [Element] = []
        elements.reserveCapacity(length)
        for _ in 0..<length {
            let size = Int(unsafe try Self.int4(from: &rest))
            guard size >= 0 else { throw unexpectedNull(row, column) }
            guard unsafe size <= rest.count else {
                throw .unexpectedResult("an array ends early")
            }
            unsafe elements.append(try decode(UnsafeRawBufferPointer(rebasing: rest.prefix(size))))
            unsafe rest = rest.dropFirst(size)
        }
        return elements
    }

    private static func int4(
        from rest: inout Slice<UnsafeRawBufferPointer>
    ) throws(PostgresError) -> Int32 {
        guard unsafe rest.count >= 4 else { throw .unexpectedResult("an array ends early") }
        let value = unsafe try UnsafeRawBufferPointer(rebasing: rest.prefix(4)).integer(Int32.self)
        unsafe rest = rest.dropFirst(4)
        return value
    }
}
