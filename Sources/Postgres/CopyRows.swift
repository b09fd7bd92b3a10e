/// Rows in the binary form of COPY, encoded as they are added.
///
/// For many rows this costs a fraction of arrays that a statement unnests: nothing is collected by
/// column, and the server writes whole pages.
package struct CopyRows: ~Copyable {
    /// The maximum number of bytes of a row's text and array columns.
    private static let fieldBytesMax = 256 * 1024 * 1024
    /// The size of the signature, the flags and the length of the extension.
    private static let headerBytes = 19

    private var buffer = WireBuffer()
    private var isRefused = false

    /// The number of rows added.
    package private(set) var count = 0

    /// Creates an empty set of rows.
    package init() {
        beginCopy()
    }

    /// The size of the rows in bytes.
    package var byteCount: Int { buffer.count }

    /// Removes the rows, so that the memory can be reused.
    package mutating func removeAll() {
        buffer.clear(keeping: 4 * 1024 * 1024)
        count = 0
        isRefused = false
        beginCopy()
    }

    /// Appends the signature, no flags and no extension.
    private mutating func beginCopy() {
        buffer.append([0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00])
        buffer.append(Int32(0))
        buffer.append(Int32(0))
    }

    /// Begins a row; exactly this many values must follow.
    package mutating func row(columns: Int16) {
        buffer.append(columns)
        count += 1
    }

    /// Adds a row that was read from a copy, unchanged.
    package mutating func append(_ row: CopyRow) {
        unsafe buffer.append(row.image)
        count += 1
    }

    /// Adds a null.
    package mutating func null() {
        buffer.append(Int32(-1))
    }

    /// Adds a `boolean`, or a null.
    package mutating func bool(_ value: Bool?) {
        guard let value else { return null() }
        buffer.append(Int32(1))
        buffer.append(UInt8(value ? 1 : 0))
    }

    /// Adds a `bigint`.
    package mutating func int8(_ value: Int64) {
        buffer.append(Int32(8))
        buffer.append(value)
    }

    /// Adds a `uuid`.
    package mutating func uuid(_ value: UInt128?) {
        guard let value else { return null() }
        buffer.append(Int32(16))
        buffer.append(UInt64(truncatingIfNeeded: value >> 64))
        buffer.append(UInt64(truncatingIfNeeded: value))
    }

    /// Adds a `timestamptz`, in microseconds since 1970-01-01 UTC.
    package mutating func timestamp(_ value: Int64) {
        let (result, overflow) = value.subtractingReportingOverflow(timestampEpochMicroseconds)
        if overflow || result == .min { isRefused = true }
        int8(result)
    }

    /// Adds a `text`, or a null.
    package mutating func text(_ value: String?) {
        guard let value else { return null() }
        let length = value.utf8.count
        guard length <= Self.fieldBytesMax else { return refuse() }
        buffer.append(Int32(truncatingIfNeeded: length))
        if !buffer.append(value) { isRefused = true }
    }

    /// Adds a `text[]`.
    package mutating func texts(_ values: [String]) {
        var bytes = 12
        if !values.isEmpty { bytes += 8 }
        for value in values { bytes += 4 + value.utf8.count }
        guard bytes <= Self.fieldBytesMax else { return refuse() }
        buffer.append(Int32(truncatingIfNeeded: bytes))
        buffer.append(Int32(values.isEmpty ? 0 : 1))
        buffer.append(Int32(0))
        buffer.append(TypeOID.text)
        guard !values.isEmpty else { return }
        buffer.append(Int32(truncatingIfNeeded: values.count))
        buffer.append(Int32(1))
        for value in values { text(value) }
    }

    private mutating func refuse() {
        isRefused = true
        null()
    }

    /// Passes the bytes, with the trailer that ends a copy, to a body; the rows are kept.
    ///
    /// - Throws: `.unexpectedResult` if a value was added that Postgres cannot store.
    mutating func withBytes(
        _ body: (UnsafeRawBufferPointer) throws(PostgresError) -> Void
    ) throws(PostgresError) {
        guard !isRefused else {
            throw .unexpectedResult("a row holds a value that Postgres cannot store")
        }
        buffer.append(Int16(-1))
        defer { buffer.removeLast(2) }
        try unsafe body(UnsafeRawBufferPointer(start: buffer.start, count: buffer.count))
    }

    /// Returns the values of each row, for an INSERT of few rows.
    ///
    /// - Throws: `.unexpectedResult` if a value was added that Postgres cannot store.
    package mutating func values() throws(PostgresError) -> [[Parameter]] {
        var rows: [[Parameter]] = []
        let count = count
        try unsafe withBytes { (bytes: UnsafeRawBufferPointer) throws(PostgresError) in
            var offset = Self.headerBytes
            func next<Value: FixedWidthInteger & BitwiseCopyable>(_ type: Value.Type) -> Value {
                defer { offset += MemoryLayout<Value>.size }
                return unsafe Value(
                    bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
            }
            for _ in 0..<count {
                var row: [Parameter] = []
                for _ in 0..<next(Int16.self) {
                    let length = Int(next(Int32.self))
                    guard length >= 0 else {
                        row.append(.null)
                        continue
                    }
                    unsafe row.append(.image([UInt8](bytes[offset..<offset + length])))
                    offset += length
                }
                rows.append(row)
            }
        }
        return rows
    }
}
