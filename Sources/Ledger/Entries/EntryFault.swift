/// The reasons why stored bytes are not an entry of this ledger.
package enum EntryFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The entry is longer than 65,535 bytes.
    case tooLong
    /// The bytes differ from the canonical form; names the field or the byte where reading stopped.
    case malformed(String)
    /// The type is unknown to this release.
    case unknownType
    /// The version of the type is unknown to this release.
    case unknownVersion

    package var description: String {
        switch self {
        case .tooLong: "the entry is longer than \(EntryEncoding.bytesMax) bytes"
        case .malformed(let location): "the entry is malformed at \(location)"
        case .unknownType: "the entry's type is unknown to this release; a newer one may know it"
        case .unknownVersion:
            "the entry's version is unknown to this release; a newer one may know it"
        }
    }
}
