import Foundation

/// A directory for its owner alone, whose files survive the process and a power cut.
///
/// What a writing call has come back from is on the disk: the bytes, and the name.
package struct DurableDirectory: Sendable {
    /// The rights of directories that are made here.
    private static let directoryMode = 0o700
    /// The rights of files that are made here.
    static let fileMode: mode_t = 0o600
    private static let lockName = ".lock"
    /// What group and others may do: nothing at all.
    private static let foreignBits = 0o077

    package let path: String

    /// Names a directory, which need not be there yet.
    package init(path: String) {
        self.path = path
    }

    /// The directory of a name inside this one.
    package func directory(_ name: String) -> DurableDirectory {
        DurableDirectory(path: path(of: name))
    }

    /// The path of a file inside this directory.
    package func path(of name: String) -> String { "\(path)/\(name)" }

    /// Makes the directory and those above it, where they are missing.
    ///
    /// - Throws: also when others than the owner may look into it.
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

    /// The names in the directory, in order; nil when it is missing.
    ///
    /// - Throws: also when others than the owner may look into it.
    package func names() throws(FileFault) -> [String]? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        try checkMode(of: path, wanted: Self.directoryMode)
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
        } catch {
            throw FileFault(path: path, reason: "can't be read")
        }
    }

    /// The content of a file; nil when it is missing.
    ///
    /// - Throws: also when it is too long, or others than the owner may read it.
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

    /// The last bytes of a file, all of them when there are no more; nil when it is missing.
    ///
    /// - Throws: also when others than the owner may read it.
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

    /// Gives a file this content, whole or not at all, whatever it held before.
    package func replace(_ name: String, with bytes: [UInt8]) throws(FileFault) {
        let draft = try draft(of: name, bytes)
        guard unsafe rename(draft, path(of: name)) == 0 else {
            try? FileManager.default.removeItem(atPath: draft)
            throw FileFault(path: path(of: name), reason: "can't be replaced")
        }
        try sync()
    }

    /// Makes a file with this content, whole or not at all, and never over another.
    ///
    /// - Returns: whether it was made; false when there is one of the name.
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

    /// Adds bytes to the end of a file, which is made when it is missing.
    ///
    /// A power cut may leave a part of them.
    package func append(_ bytes: [UInt8], to name: String) throws(FileFault) {
        let path = path(of: name)
        let isNew = !FileManager.default.fileExists(atPath: path)
        let file = try Descriptor(of: path, O_WRONLY | O_APPEND | O_CREAT)
        try file.write(bytes)
        try file.sync()
        if isNew { try sync() }
    }

    /// Takes a file away; it is no fault when there is none.
    package func remove(_ name: String) throws(FileFault) {
        let path = path(of: name)
        guard FileManager.default.fileExists(atPath: path) else { return }
        guard (try? FileManager.default.removeItem(atPath: path)) != nil else {
            throw FileFault(path: path, reason: "can't be removed")
        }
        try sync()
    }

    /// Takes away the drafts of files that were never finished.
    ///
    /// To be called only where nobody else can be writing one: in a body of ``whileLocked(_:)``, when
    /// every file is written in one.
    package func removeDrafts() throws(FileFault) {
        for name in try names() ?? [] where Self.isDraft(name) {
            try remove(name)
        }
    }

    /// Whether a name is `.NAME.NUMBER`.
    private static func isDraft(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0].isEmpty, let number = parts.last else { return false }
        return UInt64(number) != nil
    }

    /// Runs a body while nobody else is in one of this directory; waits for them.
    ///
    /// The system lifts the lock when a process dies.
    package func whileLocked<Value>(
        _ body: () throws -> Value
    ) throws -> Value {
        let lock = try Descriptor(of: path(of: Self.lockName), O_RDWR | O_CREAT)
        try lock.lock()
        return try withExtendedLifetime(lock) { try body() }
    }

    /// Writes a file beside the named one, durable before it gets its name.
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
                reason: "is open to others than its owner: chmod \(String(wanted, radix: 8)) it")
        }
    }
}
