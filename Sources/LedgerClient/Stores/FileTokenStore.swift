public import Foundation

/// Keeps the session in a file that only its owner can read (mode 0600), for servers and command-line programs.
///
/// Processes with the same file share the session: a file beside it, with the ending `.lock`, excludes them from each
/// other.
public struct FileTokenStore: TokenStore {
    /// The permission bits of group and others, none of which may be set.
    private static let foreignBits = 0o077
    private static let bytesMax = 1 << 20

    private let url: URL
    private let lock: FileLock

    /// Names the file, whose folder has to exist.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - wait: The time to wait for another process.
    public init(_ url: URL, wait: Duration = .seconds(40)) {
        self.url = url
        lock = FileLock(url.appendingPathExtension("lock"), wait: wait)
    }

    /// Reads the file.
    ///
    /// - Returns: The state; nil if there is no file, or an empty one.
    /// - Throws: ``StoreError``, also when other users can access the file.
    public func load() throws(StoreError) -> StoredState? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        guard try permissions() & Self.foreignBits == 0 else {
            throw StoreError("Other users can access the file of the session")
        }
        guard let data = FileManager.default.contents(atPath: url.path) else {
            // It may have been removed meanwhile.
            guard FileManager.default.fileExists(atPath: url.path) else { return nil }
            throw StoreError("The file of the session cannot be read")
        }
        guard !data.isEmpty else { return nil }
        guard data.count <= Self.bytesMax,
            let state = try? JSONDecoder().decode(StoredState.self, from: data)
        else { throw StoreError("The file of the session is damaged") }
        return state
    }

    /// Replaces the file at once, or removes it.
    ///
    /// - Parameter state: The new state.
    /// - Throws: ``StoreError``.
    public func save(_ state: StoredState?) throws(StoreError) {
        guard let state else {
            guard FileManager.default.fileExists(atPath: url.path) else { return }
            do {
                try FileManager.default.removeItem(at: url)
            } catch {
                throw StoreError("The file of the session cannot be removed")
            }
            return
        }
        guard let data = try? JSONEncoder().encode(state) else {
            throw StoreError("The session cannot be encoded")
        }
        try PrivateFile.replace(url.path, with: data)
    }

    /// Runs work while no other task or process with this file does.
    ///
    /// - Parameter work: The work.
    /// - Returns: Its result.
    /// - Throws: ``StoreError`` if another process keeps the lock for too long.
    public func exclusively<Value: Sendable>(
        _ work: @Sendable () async -> Value
    ) async throws(StoreError) -> Value {
        try await lock.hold(work)
    }

    private func permissions() throws(StoreError) -> Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        guard let mode = attributes?[.posixPermissions] as? NSNumber else {
            throw StoreError("The permissions of the session's file cannot be read")
        }
        return mode.intValue
    }
}
