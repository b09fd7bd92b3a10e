/// A random secret for one comparison, so that rows with colliding hashes cannot be crafted.
package struct RowHashKey: Sendable {
    fileprivate let high = UInt64.random(in: 0...(.max))
    fileprivate let low = UInt64.random(in: 0...(.max))

    /// Generates a key.
    package init() {}

    /// Returns the keyed hash of some bytes.
    func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(high)
        hasher.combine(low)
        unsafe hasher.combine(bytes: bytes)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

/// A row, or some of its columns, in the binary form of Postgres.
///
/// Built from expected values or from a copied row, and hashed to compare the two.
package struct RowImage: Hashable {
    private var bytes: [UInt8] = []

    /// Creates an image without columns.
    package init() {}

    /// Removes all columns; the memory is kept.
    package mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Returns the keyed hash of all columns added.
    package func hash(_ key: RowHashKey) -> UInt64 {
        unsafe bytes.withUnsafeBytes { unsafe key.hash($0) }
    }

    /// Adds columns of a copied row as they are.
    package mutating func add(_ row: CopyRow, _ columns: Range<Int>) {
        for column in columns {
            unsafe row.withField(column) { field in
                guard let field = unsafe field else { return null() }
                count(field.count)
                unsafe bytes.append(contentsOf: field)
            }
        }
    }

    /// Adds the digest of a column of a copied row.
    package mutating func addDigest(of row: CopyRow, _ column: Int, _ key: RowHashKey) {
        unsafe row.withField(column) { field in
            guard let field = unsafe field else { return digest(nil) }
            digest(unsafe key.hash(field))
        }
    }

    /// Adds the digest of a value that is too long, or too personal, to be kept.
    package mutating func digest(_ value: UInt64?) {
        guard let value else { return null() }
        count(8)
        append(value)
    }

    /// Adds a null.
    package mutating func null() {
        append(Int32(-1))
    }

    /// Adds a `bigint`.
    package mutating func int8(_ value: Int64?) {
        guard let value else { return null() }
        count(8)
        append(value)
    }

    /// Adds a `smallint`.
    package mutating func int2(_ value: Int16) {
        count(2)
        append(value)
    }

    /// Adds a `timestamptz` of microseconds since 1970-01-01 UTC.
    package mutating func timestamp(_ microseconds: Int64) {
        int8(microseconds &- timestampEpochMicroseconds)
    }

    /// Adds a `uuid`.
    package mutating func uuid(_ value: UInt128?) {
        guard let value else { return null() }
        count(16)
        append(UInt64(truncatingIfNeeded: value >> 64))
        append(UInt64(truncatingIfNeeded: value))
    }

    /// Adds a `bytea`.
    package mutating func bytes(_ value: [UInt8]) {
        count(value.count)
        bytes.append(contentsOf: value)
    }

    /// Adds a `text`.
    package mutating func text(_ value: String?) {
        guard var value else { return null() }
        count(value.utf8.count)
        value.withUTF8 { unsafe bytes.append(contentsOf: $0) }
    }

    /// Adds a `text[]` without nulls.
    package mutating func textArray(_ values: [String]) {
        let start = bytes.count
        append(Int32(0))
        append(Int32(values.isEmpty ? 0 : 1))
        append(Int32(0))
        append(TypeOID.text)
        if !values.isEmpty {
            append(Int32(values.count))
            append(Int32(1))
            for value in values { text(value) }
        }
        let length = Int32(bytes.count - start - 4)
        for index in 0..<4 {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> Int32(24 - 8 * index))
        }
    }

    private mutating func count(_ count: Int) {
        append(Int32(count))
    }

    private mutating func append(_ value: some FixedWidthInteger & BitwiseCopyable) {
        unsafe withUnsafeBytes(of: value.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
}

/// Returns the keyed hash of a text, equal to the digest of ``RowImage/addDigest(of:_:_:)``.
package func rowDigest(of text: String, _ key: RowHashKey) -> UInt64 {
    var text = text
    return text.withUTF8 { unsafe key.hash(UnsafeRawBufferPointer($0)) }
}

/// A set of rows regardless of order: their number and the sum of their hashes.
///
/// Two equal values hold the same rows, except with a probability of 2^-64.
package struct RowMultiset: Hashable, Sendable {
    package private(set) var count: Int64 = 0
    private var sum: UInt64 = 0

    /// Creates a set without rows.
    package init() {}

    /// Adds a row by its hash.
    package mutating func add(_ hash: UInt64) {
        count += 1
        sum &+= hash
    }

    /// Removes a row by its hash.
    package mutating func remove(_ hash: UInt64) {
        count -= 1
        sum &-= hash
    }

    /// Adds other rows.
    package mutating func merge(_ other: RowMultiset) {
        count += other.count
        sum &+= other.sum
    }
}
