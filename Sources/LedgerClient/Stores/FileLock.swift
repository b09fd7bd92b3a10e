public import Foundation

/// A lock that processes share by the name of a file: it ends with its holder, even by a crash.
///
/// iOS terminates an app or an extension that is suspended while it holds the lock of a file in the container of an app
/// group (`0xdead10cc`). Hold a background task around the calls of a session with such a lock:
/// `UIApplication.beginBackgroundTask` in an app, `ProcessInfo.performExpiringActivity` in an extension.
public struct FileLock: Sendable {
    private static let pause = Duration.milliseconds(10)

    private let url: URL
    private let wait: Duration

    /// Names the file, which is made when it is missing and never has contents.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - wait: The time to wait for another holder: longer than a refresh may take.
    public init(_ url: URL, wait: Duration = .seconds(40)) {
        self.url = url
        self.wait = wait
    }

    /// Runs work while this lock is held.
    ///
    /// - Parameter work: The work.
    /// - Returns: Its result.
    /// - Throws: ``StoreError`` if the file cannot be opened, or another process holds the lock for too long.
    public func hold<Value: Sendable>(
        _ work: @Sendable () async -> Value
    ) async throws(StoreError) -> Value {
        let file = try PrivateFile.open(url.path, O_RDWR)
        try await acquire(file)
        let value = await work()
        _ = flock(file.fileDescriptor, LOCK_UN)
        try? file.close()
        return value
    }

    /// Tries until the lock is there: a call that waits would keep a thread of all tasks.
    private func acquire(_ file: FileHandle) async throws(StoreError) {
        let end = ContinuousClock.now + wait
        while flock(file.fileDescriptor, LOCK_EX | LOCK_NB) != 0 {
            guard ContinuousClock.now < end else {
                throw StoreError("Another process keeps the store locked")
            }
            do {
                try await Task.sleep(for: Self.pause)
            } catch {
                throw StoreError("The task was cancelled while it waited for the store")
            }
        }
    }
}
