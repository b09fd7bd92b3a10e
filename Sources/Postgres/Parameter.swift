/// A value for a `$n`, sent in binary with an explicit type, so that the server never has to guess.
///
/// Timestamps are microseconds since 1970-01-01 UTC (`timestamptz`). Arrays have one dimension; the
/// `optional` cases hold nulls. A text with U+0000 is refused before anything is sent.
package enum Parameter: Sendable, Hashable {
    /// A null of the type that the statement expects there.
    case null
    /// A value in the binary form of the type that the statement expects there.
    case image([UInt8])
    /// A `boolean`.
    case bool(Bool)
    /// An `integer`.
    case int4(Int32)
    /// A `bigint`.
    case int8(Int64)
    /// A `text`; cast it in SQL where another type is expected, such as `$1::jsonb`.
    case text(String)
    /// A `bytea`.
    case bytes([UInt8])
    /// A `uuid`, most significant byte first.
    case uuid(UInt128)
    /// A `timestamptz`, in microseconds since 1970-01-01 UTC.
    case timestamp(Int64)

    /// A `boolean[]`.
    case bools([Bool])
    /// A `boolean[]` that may hold nulls.
    case optionalBools([Bool?])
    /// An `integer[]`.
    case int4s([Int32])
    /// A `bigint[]`.
    case int8s([Int64])
    /// A `bigint[]` that may hold nulls.
    case optionalInt8s([Int64?])
    /// A `text[]`.
    case texts([String])
    /// A `text[]` that may hold nulls.
    case optionalTexts([String?])
    /// A `bytea[]`.
    case byteArrays([[UInt8]])
    /// A `bytea[]` that may hold nulls.
    case optionalByteArrays([[UInt8]?])
    /// A `uuid[]`.
    case uuids([UInt128])
    /// A `uuid[]` that may hold nulls.
    case optionalUUIDs([UInt128?])
    /// A `timestamptz[]`, in microseconds since 1970-01-01 UTC.
    case timestamps([Int64])
    /// A `timestamptz[]` that may hold nulls.
    case optionalTimestamps([Int64?])

    /// The type that the statement is prepared with.
    var type: UInt32 {
        switch self {
        case .null, .image: TypeOID.unspecified
        case .bool: TypeOID.bool
        case .int4: TypeOID.int4
        case .int8: TypeOID.int8
        case .text: TypeOID.text
        case .bytes: TypeOID.bytea
        case .uuid: TypeOID.uuid
        case .timestamp: TypeOID.timestamptz
        case .bools, .optionalBools: TypeOID.boolArray
        case .int4s: TypeOID.int4Array
        case .int8s, .optionalInt8s: TypeOID.int8Array
        case .texts, .optionalTexts: TypeOID.textArray
        case .byteArrays, .optionalByteArrays: TypeOID.byteaArray
        case .uuids, .optionalUUIDs: TypeOID.uuidArray
        case .timestamps, .optionalTimestamps: TypeOID.timestamptzArray
        }
    }
}
