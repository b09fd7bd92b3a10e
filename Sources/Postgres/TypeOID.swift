/// The object identifiers of the built-in types used in this module, identical on every server.
enum TypeOID {
    /// Leaves the type of a parameter to the server.
    static let unspecified: UInt32 = 0

    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let char: UInt32 = 18
    static let name: UInt32 = 19
    static let int8: UInt32 = 20
    static let int2: UInt32 = 21
    static let int4: UInt32 = 23
    static let text: UInt32 = 25
    static let json: UInt32 = 114
    static let unknown: UInt32 = 705
    static let bpchar: UInt32 = 1042
    static let varchar: UInt32 = 1043
    static let timestamptz: UInt32 = 1184
    static let uuid: UInt32 = 2950
    static let jsonb: UInt32 = 3802

    static let boolArray: UInt32 = 1000
    static let byteaArray: UInt32 = 1001
    static let int4Array: UInt32 = 1007
    static let textArray: UInt32 = 1009
    static let int8Array: UInt32 = 1016
    static let timestamptzArray: UInt32 = 1185
    static let uuidArray: UInt32 = 2951

    /// The first identifier of user-defined types, such as enumerations.
    static let firstUserDefined: UInt32 = 16384

    /// Whether the binary form of the type is its text in the client's encoding.
    static func isTextual(_ type: UInt32) -> Bool {
        switch type {
        case text, varchar, bpchar, name, char, json, unknown: true
        default: type >= firstUserDefined
        }
    }
}

/// Microseconds from 1970-01-01 to 2000-01-01, the epoch of binary timestamps.
let timestampEpochMicroseconds: Int64 = 946_684_800_000_000
