import Foundation

/// Files that only their owner can access.
enum PrivateFile {
    private static let mode: mode_t = 0o600

    /// Opens a file, and makes it when it is missing: never in place of one that another process has made meanwhile.
    static func open(_ path: String, _ flags: Int32) throws(StoreError) -> FileHandle {
        let number = unsafe Foundation.open(path, flags | O_CREAT | O_CLOEXEC, mode)
        guard number >= 0 else { throw StoreError("A file of the session cannot be opened") }
        return FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }

    /// Replaces a file at once: after a crash, either the former or the new one is there.
    static func replace(_ path: String, with data: Data) throws(StoreError) {
        let draft = path + ".new"
        // One that a crash has left, or that another user has made in a shared folder.
        try? FileManager.default.removeItem(atPath: draft)
        let file = try open(draft, O_WRONLY | O_EXCL)
        do {
            try file.write(contentsOf: data)
            try file.synchronize()
            try file.close()
        } catch {
            throw StoreError("The file of the session cannot be written")
        }
        guard unsafe rename(draft, path) == 0 else {
            throw StoreError("The file of the session cannot be replaced")
        }
    }
}
