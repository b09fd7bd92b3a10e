internal import CArchive

/// Reads a tar archive, member by member, in order.
///
/// Archives are untrusted input. Nothing is decompressed and nothing is written anywhere; a
/// member's name is only compared and never used as a path. A member of any claimed length is read
/// in chunks.
@safe package final class ArchiveReader {
    /// A member of an archive.
    package struct Member: Hashable, Sendable {
        /// The stored name, unchecked; invalid UTF-8 is replaced.
        package let name: String
        /// The number of bytes that it claims to have.
        package let byteCount: Int64
        /// Whether it is a regular file, and not a link, directory or device.
        package let isFile: Bool
    }

    private static let chunkBytes = 1 << 16

    private let archive: OpaquePointer

    /// Opens a file; whether it is an archive is found when it is read.
    package init(path: String) throws(ArchiveError) {
        guard let made = unsafe archive_read_new() else { throw .notOpened("no memory") }
        guard
            unsafe archive_read_support_format_tar(made) == ARCHIVE_OK,
            unsafe archive_read_open_filename(made, path, ArchiveReader.chunkBytes) == ARCHIVE_OK
        else {
            let reason = unsafe archiveErrorText(made)
            unsafe archive_read_free(made)
            throw .notOpened(reason)
        }
        unsafe archive = unsafe made
    }

    deinit {
        unsafe archive_read_free(archive)
    }

    /// Moves to the next member and skips the rest of this one; nil at the end.
    package func next() throws(ArchiveError) -> Member? {
        var entry: OpaquePointer?
        switch unsafe archive_read_next_header(archive, &entry) {
        case ARCHIVE_EOF: return nil
        case ARCHIVE_OK: break
        default: throw failure
        }
        guard let entry = unsafe entry else { throw .damaged("a member without a header") }
        guard let name = unsafe archive_entry_pathname(entry) else {
            throw .damaged("a member without a name")
        }
        return Member(
            name: unsafe String(cString: name), byteCount: unsafe archive_entry_size(entry),
            isFile: unsafe archive_entry_filetype(entry) == carchive_regular_file
                && archive_entry_hardlink(entry) == nil)
    }

    /// Returns the next bytes of the member, at most about 64 KiB; empty at its end.
    package func read() throws(ArchiveError) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: ArchiveReader.chunkBytes) {
            count = unsafe archive_read_data(archive, $0.baseAddress, $0.count)
            $1 = max(0, count)
        }
        guard count >= 0 else { throw failure }
        return bytes
    }

    private var failure: ArchiveError {
        .damaged(unsafe archiveErrorText(archive))
    }
}

// A library handle that one thread uses.
@available(*, unavailable)
extension ArchiveReader: Sendable {}
