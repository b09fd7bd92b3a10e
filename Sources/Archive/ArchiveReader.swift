internal import CArchive

/// Reads a tar archive, member by member, in the order in which they lie.
///
/// Archives come from strangers. Nothing is decompressed and nothing is written anywhere; a member's
/// name is a text to compare and never a path. What a member claims to be long is read in pieces.
@safe package final class ArchiveReader {
    /// A member of an archive.
    package struct Member: Hashable, Sendable {
        /// The name as it stands there, whatever it is; bytes that are no UTF-8 are replaced.
        package let name: String
        /// How many bytes it claims to have.
        package let byteCount: Int64
        /// Whether it is a plain file, and no link, directory or device.
        package let isFile: Bool
    }

    private static let pieceBytes = 1 << 16

    private let archive: OpaquePointer

    /// Opens a file; whether it is an archive shows when it is read.
    package init(path: String) throws(ArchiveError) {
        guard let made = unsafe archive_read_new() else { throw .notOpened("no memory") }
        guard
            unsafe archive_read_support_format_tar(made) == ARCHIVE_OK,
            unsafe archive_read_open_filename(made, path, ArchiveReader.pieceBytes) == ARCHIVE_OK
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

    /// Goes on to the next member, past what was not read of this one; nil at the end.
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

    /// The next bytes of the member, some 64 KiB at the most; none at its end.
    package func read() throws(ArchiveError) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: ArchiveReader.pieceBytes) {
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

// A library's handle that one thread uses.
@available(*, unavailable)
extension ArchiveReader: Sendable {}
