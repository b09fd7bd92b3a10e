/// Why an archive was not written or not read.
package enum ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file can't be opened; in the words of the library.
    case notOpened(String)
    /// The file can't be written to its end.
    case notWritten(String)
    /// The bytes are no archive of the expected kind, or break off.
    case damaged(String)

    package var description: String {
        switch self {
        case .notOpened(let reason): "the archive can't be opened: \(reason)"
        case .notWritten(let reason): "the archive can't be written: \(reason)"
        case .damaged(let reason): "the archive is damaged: \(reason)"
        }
    }
}
