/// A store that cannot be read, written or locked.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The operation that failed, without contents.
    public let description: String

    /// Describes a failure.
    public init(_ description: String) {
        self.description = description
    }
}

/// Keeps the session of one person: `KeychainTokenStore`, ``FileTokenStore``, ``InMemoryTokenStore``, or an app's
/// own.
///
/// A store may be shared by processes, such as an app and its extensions. Then ``exclusively(_:)`` excludes all of
/// them, and ``load()`` sees what another one has saved.
public protocol TokenStore: Sendable {
    /// Reads the state.
    ///
    /// - Returns: The state; nil if nothing is stored.
    /// - Throws: ``StoreError``.
    func load() async throws(StoreError) -> StoredState?

    /// Replaces the state at once: after a crash, either the former or the new one is there.
    ///
    /// - Parameter state: The new state; nil leaves nothing behind.
    /// - Throws: ``StoreError``.
    func save(_ state: StoredState?) async throws(StoreError)

    /// Runs work while no other task or process with this store does.
    ///
    /// - Parameter work: The work, which reads and replaces the state.
    /// - Returns: The result of the work.
    /// - Throws: ``StoreError`` if the lock cannot be had.
    func exclusively<Value: Sendable>(
        _ work: @Sendable () async -> Value
    ) async throws(StoreError) -> Value
}

/// Keeps the session in memory: it is gone when the process ends.
public actor InMemoryTokenStore: TokenStore {
    private var state: StoredState?
    private let line = WaitingLine()

    /// Creates a store, by default an empty one.
    public init(_ state: StoredState? = nil) {
        self.state = state
    }

    /// Reads the state.
    ///
    /// - Returns: The state; nil if nothing is stored.
    public func load() -> StoredState? { state }

    /// Replaces the state.
    ///
    /// - Parameter state: The new state.
    public func save(_ state: StoredState?) { self.state = state }

    /// Runs work after the work before it.
    ///
    /// - Parameter work: The work.
    /// - Returns: Its result.
    public nonisolated func exclusively<Value: Sendable>(
        _ work: @Sendable () async -> Value
    ) async -> Value {
        await line.enter()
        let value = await work()
        await line.leave()
        return value
    }
}

/// Lets one task at a time pass, in the order in which they came.
actor WaitingLine {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
