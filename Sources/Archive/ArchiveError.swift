/// The reasons why an archive cannot be written or read.
package enum ArchiveError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file cannot be opened; with the library's message.
    case notOpened(String)
    /// The file cannot be written completely.
    case notWritten(String)
    /// The bytes are not an archive of the expected kind, or are truncated.
    case damaged(String)

    package var description: String {
        switch self {
        case .notOpened(let reason): "the archive can't be opened: \(reason)"
        case .notWritten(let reason): "the archive can't be written: \(reason)"
        case .damaged(let reason): "the archive is damaged: \(reason)"
        }
    }
}
