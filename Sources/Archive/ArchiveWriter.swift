internal import CArchive

/// Writes a tar archive of regular files, member by member.
///
/// Every member is written as it is added, so memory holds only one. The same members make the same
/// archive: owners are omitted, and times are zero.
@safe package final class ArchiveWriter {
    /// The maximum length of a member's name, in bytes: the limit of the oldest tar format.
    package static let nameBytesMax = 100

    private let archive: OpaquePointer

    /// Creates the file, or truncates an existing one.
    package init(path: String) throws(ArchiveError) {
        guard let made = unsafe archive_write_new() else {
            throw .notOpened("no memory")
        }
        guard
            unsafe archive_write_set_format_ustar(made) == ARCHIVE_OK,
            unsafe archive_write_open_filename(made, path) == ARCHIVE_OK
        else {
            let reason = unsafe archiveErrorText(made)
            unsafe archive_write_free(made)
            throw .notOpened(reason)
        }
        unsafe archive = unsafe made
    }

    deinit {
        unsafe archive_write_free(archive)
    }

    /// Adds a file.
    ///
    /// - Precondition: the name has at most ``nameBytesMax`` bytes, all of them ASCII.
    package func add(_ name: String, _ bytes: [UInt8]) throws(ArchiveError) {
        precondition(
            name.utf8.count <= ArchiveWriter.nameBytesMax && name.utf8.allSatisfy { $0 < 0x80 },
            "a short name in ASCII")
        guard let entry = unsafe archive_entry_new() else { throw .notWritten("no memory") }
        defer { unsafe archive_entry_free(entry) }
        unsafe archive_entry_set_pathname(entry, name)
        unsafe archive_entry_set_filetype(entry, carchive_regular_file)
        unsafe archive_entry_set_perm(entry, 0o644)
        unsafe archive_entry_set_mtime(entry, 0, 0)
        unsafe archive_entry_set_size(entry, Int64(bytes.count))
        guard unsafe archive_write_header(archive, entry) == ARCHIVE_OK else { throw failure }
        let written = unsafe bytes.withUnsafeBytes {
            unsafe archive_write_data(archive, $0.baseAddress, $0.count)
        }
        guard written == bytes.count else { throw failure }
    }

    /// Ends the archive; without it the archive is incomplete.
    package func finish() throws(ArchiveError) {
        guard unsafe archive_write_close(archive) == ARCHIVE_OK else { throw failure }
    }

    private var failure: ArchiveError {
        .notWritten(unsafe archiveErrorText(archive))
    }
}

// A library handle that one thread uses.
@available(*, unavailable)
extension ArchiveWriter: Sendable {}

/// Returns the library's message for its last failure.
func archiveErrorText(_ archive: OpaquePointer) -> String {
    guard let text = unsafe archive_error_string(archive) else { return "no reason known" }
    return unsafe String(cString: text)
}
