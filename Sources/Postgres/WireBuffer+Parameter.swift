extension WireBuffer {
    /// The length of a null element in an array.
    private static let nullLength: Int32 = -1
    /// The size of an array's header: dimensions, null flag, type, length, lower bound.
    private static let arrayHeaderBytes = 20

    /// Appends the binary form of a value; `.null` appends nothing.
    mutating func append(_ parameter: Parameter) throws(PostgresError) {
        switch parameter {
        case .null: break
        case .image(let value): append(value)
        case .bool(let value): append(UInt8(value ? 1 : 0))
        case .int4(let value): append(value)
        case .int8(let value): append(value)
        case .text(let value): try appendText(value)
        case .bytes(let value): append(value)
        case .uuid(let value): append(value)
        case .timestamp(let value): append(try Self.sinceTimestampEpoch(value))
        default: try appendArray(parameter)
        }
    }

    private mutating func appendArray(_ parameter: Parameter) throws(PostgresError) {
        switch parameter {
        case .bools(let values):
            appendHeader(values.count, of: TypeOID.bool, elementBytes: 1)
            for value in values { appendElement(UInt8(value ? 1 : 0)) }
        case .optionalBools(let values):
            appendHeader(values.count, of: TypeOID.bool, elementBytes: 1, nulls: true)
            for value in values { appendElement(orNull: value.map { UInt8($0 ? 1 : 0) }) }
        case .int4s(let values):
            appendHeader(values.count, of: TypeOID.int4, elementBytes: 4)
            for value in values { appendElement(value) }
        case .int8s(let values):
            appendHeader(values.count, of: TypeOID.int8, elementBytes: 8)
            for value in values { appendElement(value) }
        case .optionalInt8s(let values):
            appendHeader(values.count, of: TypeOID.int8, elementBytes: 8, nulls: true)
            for value in values { appendElement(orNull: value) }
        case .uuids(let values):
            appendHeader(values.count, of: TypeOID.uuid, elementBytes: 16)
            for value in values { appendElement(value) }
        case .optionalUUIDs(let values):
            appendHeader(values.count, of: TypeOID.uuid, elementBytes: 16, nulls: true)
            for value in values { appendElement(orNull: value) }
        case .timestamps(let values):
            appendHeader(values.count, of: TypeOID.timestamptz, elementBytes: 8)
            for value in values { appendElement(try Self.sinceTimestampEpoch(value)) }
        case .optionalTimestamps(let values):
            appendHeader(values.count, of: TypeOID.timestamptz, elementBytes: 8, nulls: true)
            for value in values {
                guard let value else { append(Self.nullLength); continue }
                appendElement(try Self.sinceTimestampEpoch(value))
            }
        default: try appendVariableArray(parameter)
        }
    }

    private mutating func appendVariableArray(_ parameter: Parameter) throws(PostgresError) {
        switch parameter {
        case .texts(let values):
            appendHeader(values.count, of: TypeOID.text, elementBytes: 0)
            for value in values { try appendElement(value) }
        case .optionalTexts(let values):
            appendHeader(values.count, of: TypeOID.text, elementBytes: 0, nulls: true)
            for value in values {
                guard let value else { append(Self.nullLength); continue }
                try appendElement(value)
            }
        case .byteArrays(let values):
            appendHeader(values.count, of: TypeOID.bytea, elementBytes: 0)
            for value in values { appendElement(value) }
        case .optionalByteArrays(let values):
            appendHeader(values.count, of: TypeOID.bytea, elementBytes: 0, nulls: true)
            for value in values {
                guard let value else { append(Self.nullLength); continue }
                appendElement(value)
            }
        default: throw .unexpectedResult("a parameter has no array encoding")
        }
    }

    /// Appends an array's header and reserves space for elements of known size.
    private mutating func appendHeader(
        _ length: Int, of element: UInt32, elementBytes: Int, nulls: Bool = false
    ) {
        reserve(Self.arrayHeaderBytes + length * (MemoryLayout<Int32>.size + elementBytes))
        append(Int32(length == 0 ? 0 : 1))
        append(Int32(nulls ? 1 : 0))
        append(element)
        guard length > 0 else { return }
        append(Int32(truncatingIfNeeded: length))
        append(Int32(1))
    }

    private mutating func appendElement<Value: FixedWidthInteger & BitwiseCopyable>(
        _ value: Value
    ) {
        append(Int32(MemoryLayout<Value>.size))
        append(value)
    }

    private mutating func appendElement<Value: FixedWidthInteger & BitwiseCopyable>(
        orNull value: Value?
    ) {
        guard let value else { append(Self.nullLength); return }
        appendElement(value)
    }

    private mutating func appendElement(_ value: [UInt8]) {
        append(Int32(truncatingIfNeeded: value.count))
        append(value)
    }

    private mutating func appendElement(_ value: String) throws(PostgresError) {
        append(Int32(truncatingIfNeeded: value.utf8.count))
        try appendText(value)
    }

    private mutating func appendText(_ value: String) throws(PostgresError) {
        guard append(value) else {
            throw .unexpectedResult("a text parameter holds U+0000, which Postgres cannot store")
        }
    }

    private static func sinceTimestampEpoch(_ value: Int64) throws(PostgresError) -> Int64 {
        let (result, overflow) = value.subtractingReportingOverflow(timestampEpochMicroseconds)
        // Postgres uses the least value for minus infinity; it must not arise by accident.
        guard !overflow, result != .min else {
            throw .unexpectedResult("a timestamp parameter is out of range")
        }
        return result
    }
}
