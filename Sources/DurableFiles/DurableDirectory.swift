import Foundation

/// A directory accessible to its owner only, whose files survive a crash and a power failure.
///
/// When a writing call returns, the bytes and the name are on the disk.
package struct DurableDirectory: Sendable {
    /// The mode of created directories.
    private static let directoryMode = 0o700
    /// The mode of created files.
    static let fileMode: mode_t = 0o600
    private static let lockName = ".lock"
    /// The permission bits of group and others, none of which may be set.
    private static let foreignBits = 0o077

    package let path: String

    /// Names a directory, which need not exist yet.
    package init(path: String) {
        self.path = path
    }

    /// Returns the subdirectory with a name.
    package func directory(_ name: String) -> DurableDirectory {
        DurableDirectory(path: path(of: name))
    }

    /// Returns the path of a file in this directory.
    package func path(of name: String) -> String { "\(path)/\(name)" }

    /// Creates the directory and its missing parents.
    ///
    /// - Throws: also when other users can access it.
    package func make() throws(FileFault) {
        let isNew = !FileManager.default.fileExists(atPath: path)
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true,
                attributes: [.posixPermissions: Self.directoryMode])
        } catch {
            throw FileFault(path: path, reason: "can't be made")
        }
        if isNew {
            try Descriptor(of: (path as NSString).deletingLastPathComponent, O_RDONLY).sync()
        }
        try checkMode(of: path, wanted: Self.directoryMode)
    }

    /// Lists the names in the directory, in order; nil when it is missing.
    ///
    /// - Throws: also when other users can access it.
    package func names() throws(FileFault) -> [String]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        try checkMode(of: path, wanted: Self.directoryMode)
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw FileFault(path: path, reason: "can't be read")
        }
    }

    /// Reads a file; nil when it is missing.
    ///
    /// - Throws: also when it is too long or accessible to other users.
    package func read(_ name: String, bytesMax: Int) throws(FileFault) -> [UInt8]? {
        let path = path(of: name)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        try checkMode(of: path, wanted: Int(Self.fileMode))
        guard let data = FileManager.default.contents(atPath: path) else {
            throw FileFault(path: path, reason: "can't be read")
        }
        guard data.count <= bytesMax else {
            throw FileFault(path: path, reason: "has more than \(bytesMax) bytes")
        }
        return Array(data)
    }

    /// Reads up to a number of bytes at the end of a file; nil when it is missing.
    ///
    /// - Throws: also when it is accessible to other users.
    package func readEnd(of name: String, bytesMax: Int) throws(FileFault) -> [UInt8]? {
        let path = path(of: name)
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        try checkMode(of: path, wanted: Int(Self.fileMode))
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let end = try file.seekToEnd()
            try file.seek(toOffset: end - min(end, UInt64(bytesMax)))
            let bytes = try file.readToEnd() ?? Data()
            try file.close()
            return Array(bytes)
        } catch {
            throw FileFault(path: path, reason: "can't be read")
        }
    }

    /// Creates or replaces a file atomically.
    package func replace(_ name: String, with bytes: [UInt8]) throws(FileFault) {
        let draft = try draft(of: name, bytes)
        guard unsafe rename(draft, path(of: name)) == 0 else {
            try? FileManager.default.removeItem(atPath: draft)
            throw FileFault(path: path(of: name), reason: "can't be replaced")
        }
        try sync()
    }

    /// Creates a file atomically, and never replaces an existing one.
    ///
    /// - Returns: whether it was created; false when the file exists.
    package func create(_ name: String, with bytes: [UInt8]) throws(FileFault) -> Bool {
        let draft = try draft(of: name, bytes)
        defer { try? FileManager.default.removeItem(atPath: draft) }
        guard unsafe link(draft, path(of: name)) == 0 else {
            guard errno == EEXIST else {
                throw FileFault(path: path(of: name), reason: "can't be made")
            }
            return false
        }
        try sync()
        return true
    }

    /// Appends bytes to a file, which is created when it is missing.
    ///
    /// A power failure may leave a part of them.
    package func append(_ bytes: [UInt8], to name: String) throws(FileFault) {
        let path = path(of: name)
        let isNew = !FileManager.default.fileExists(atPath: path)
        let file = try Descriptor(of: path, O_WRONLY | O_APPEND | O_CREAT)
        try file.write(bytes)
        try file.sync()
        if isNew { try sync() }
    }

    /// Deletes a file, if it exists.
    package func remove(_ name: String) throws(FileFault) {
        let path = path(of: name)
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard (try? FileManager.default.removeItem(atPath: path)) != nil else {
            throw FileFault(path: path, reason: "can't be removed")
        }
        try sync()
    }

    /// Deletes the drafts of unfinished files.
    ///
    /// Called only when no draft can be in progress: in a body of ``whileLocked(_:)``, when every file is
    /// written in one.
    package func removeDrafts() throws(FileFault) {
        for name in try names() ?? [] where Self.isDraft(name) {
            try remove(name)
        }
    }

    /// Checks whether a name is `.NAME.NUMBER`.
    private static func isDraft(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].isEmpty, let number = parts.last else { return false }
        return UInt64(number) != nil
    }

    /// Runs a body while holding the directory's lock, after waiting for it.
    ///
    /// The system releases the lock when a process dies.
    package func whileLocked<Value>(
        _ body: () throws -> Value
    ) throws -> Value {
        let lock = try Descriptor(of: path(of: Self.lockName), O_RDWR | O_CREAT)
        try lock.lock()
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Writes a durable draft, to be renamed to the named file.
    private func draft(of name: String, _ bytes: [UInt8]) throws(FileFault) -> String {
        let draft = path(of: ".\(name).\(UInt64.random(in: 0...(.max)))")
        do throws(FileFault) {
            let file = try Descriptor(of: draft, O_WRONLY | O_CREAT | O_EXCL)
            try file.write(bytes)
            try file.sync()
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw error
        }
        return draft
    }

    /// Makes the names in the directory durable.
    private func sync() throws(FileFault) {
        try Descriptor(of: path, O_RDONLY).sync()
    }

    private func checkMode(of path: String, wanted: Int) throws(FileFault) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
        else { throw FileFault(path: path, reason: "can't be read") }
        guard mode & Self.foreignBits == 0 else {
            throw FileFault(
                path: path,
                reason: "is accessible to other users: run chmod \(String(wanted, radix: 8)) on it")
        }
    }
}
