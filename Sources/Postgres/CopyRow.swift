/// One row of a `COPY ... (FORMAT binary)`, valid for the duration of one call.
///
/// Columns are read by index, from 0. Their types are known from the statement only: a copy does
/// not transmit them, so only the length of a value is checked.
@safe package final class CopyRow {
    /// The offset and length of each field's bytes; -1 for null.
    private var fields: [(start: Int, count: Int)] = []
    private var rowStart = 0
    private var bytes = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

    init() {}

    /// The number of columns in the row.
    package var columnCount: Int { fields.count }

    /// Exposes a row for the duration of the body.
    func expose(
        _ row: UnsafeRawBufferPointer, fieldsFrom start: Int, count: Int,
        _ body: (CopyRow) throws -> Void
    ) throws {
        unsafe bytes = unsafe row
        rowStart = start - MemoryLayout<Int16>.size
        defer { unsafe bytes = unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
        fields.removeAll(keepingCapacity: true)
        var offset = start
        for _ in 0..<count {
            let length = Int(try integer(Int32.self, at: offset))
            offset += 4
            guard length >= -1, length <= row.count - offset else {
                throw PostgresError.unexpectedResult("a copied row ends early")
            }
            fields.append((start: offset, count: length))
            offset += max(0, length)
        }
        guard offset == row.count else {
            throw PostgresError.unexpectedResult("a copied row has surplus bytes")
        }
        try body(self)
    }

    /// The bytes of the row, with the number of its fields.
    var image: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: bytes[rowStart...])
    }

    /// Whether a value is null.
    package func isNull(_ column: Int) -> Bool { fields[column].count < 0 }

    /// A `bigint`.
    package func int8(_ column: Int) throws(PostgresError) -> Int64 {
        try integer(column)
    }

    /// A `uuid`, most significant byte first.
    package func uuid(_ column: Int) throws(PostgresError) -> UInt128 {
        try integer(column)
    }

    /// A `bytea`, or the UTF-8 bytes of a text; empty for null.
    package func bytes(_ column: Int) -> [UInt8] {
        let field = fields[column]
        guard field.count > 0 else { return [] }
        return unsafe [UInt8](unsafe self.field(field))
    }

    /// A `text`.
    package func text(_ column: Int) throws(PostgresError) -> String {
        let field = fields[column]
        guard field.count >= 0 else { throw .unexpectedResult("column \(column) is null") }
        return unsafe try self.field(field).text()
    }

    /// Passes a value's bytes to a body; nil for null.
    func withField(_ column: Int, _ body: (UnsafeRawBufferPointer?) -> Void) {
        let field = fields[column]
        unsafe body(field.count < 0 ? nil : unsafe self.field(field))
    }

    private func field(_ field: (start: Int, count: Int)) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: bytes[field.start..<field.start + field.count])
    }

    private func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ column: Int
    ) throws(PostgresError) -> Value {
        let field = fields[column]
        guard field.count == MemoryLayout<Value>.size else {
            throw .unexpectedResult("column \(column) has \(field.count) bytes")
        }
        return try integer(Value.self, at: field.start)
    }

    private func integer<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type, at offset: Int
    ) throws(PostgresError) -> Value {
        guard unsafe offset + MemoryLayout<Value>.size <= bytes.count else {
            throw .unexpectedResult("a copied row ends early")
        }
        return unsafe Value(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
}

// Points into a buffer that lives for one call on the connection's thread.
@available(*, unavailable)
extension CopyRow: Sendable {}
