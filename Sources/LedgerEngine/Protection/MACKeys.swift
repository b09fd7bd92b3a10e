import Synchronization

/// The MAC keys of the key directory: the key of new logs, and all that a log may name.
///
/// They can be replaced during use, so that a rotation needs no restart.
package final class MACKeys: Sendable {
    private struct Content {
        var current: MACKey?
        var keys: [MACKey.ID: MACKey]
        var allowsUnprotected: Bool
    }

    private let content: Mutex<Content>
    private let onUnknown = Mutex<(@Sendable () -> Void)?>(nil)
    /// The times of failed requests for unknown keys.
    private let unknownRequests = Mutex<[MACKey.ID: ContinuousClock.Instant]>([:])

    /// The time for which an unknown key is not requested again.
    private static let unknownLifetime = Duration.seconds(1)
    private static let unknownMax = 1_000

    /// Creates a collection of keys.
    ///
    /// - Parameters:
    ///   - current: The key of new logs; nil for a process that appends nothing.
    ///   - former: Other keys whose MACs are still valid.
    ///   - allowsUnprotected: Whether logs and rows without protection are valid.
    package init(current: MACKey?, former: [MACKey] = [], allowsUnprotected: Bool = false) {
        let all = former + [current].compactMap(\.self)
        content = Mutex(
            Content(
                current: current,
                keys: Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last }),
                allowsUnprotected: allowsUnprotected))
    }

    /// The key of new logs.
    package var current: MACKey? { content.withLock(\.current) }

    /// The ids of all keys.
    package var ids: Set<MACKey.ID> { Set(content.withLock(\.keys).keys) }

    /// Whether logs and rows without protection, of an earlier release, are valid.
    ///
    /// The key directory decides, since an attacker with the database can change all that it says.
    package var allowsUnprotected: Bool { content.withLock(\.allowsUnprotected) }

    /// Whether there is no key, so that nothing can be checked.
    package var isEmpty: Bool { content.withLock(\.keys).isEmpty }

    /// Replaces the keys with those of another collection.
    package func use(_ other: MACKeys) {
        let new = other.content.withLock(\.self)
        content.withLock { $0 = new }
    }

    /// Sets a handler that is called when an unknown key is first requested and may add it.
    ///
    /// It runs on the requesting thread, which continues when it returns.
    package func whenUnknown(_ body: @escaping @Sendable () -> Void) {
        onUnknown.withLock { $0 = body }
    }

    /// Returns the key with an id; nil if the directory does not have it.
    package func key(_ id: MACKey.ID) -> MACKey? {
        if let key = content.withLock({ $0.keys[id] }) { return key }
        guard let onUnknown = onUnknown.withLock(\.self), mayRequest(for: id) else { return nil }
        onUnknown()
        if let key = content.withLock({ $0.keys[id] }) { return key }
        unknownRequests.withLock { unknownRequests in
            if unknownRequests.count >= Self.unknownMax { unknownRequests = [:] }
            unknownRequests[id] = .now
        }
        return nil
    }

    private func mayRequest(for id: MACKey.ID) -> Bool {
        unknownRequests.withLock { unknownRequests in
            unknownRequests[id].map { ContinuousClock.now - $0 >= Self.unknownLifetime } ?? true
        }
    }

    /// Checks a message's stored MAC with the key that it names.
    package func accept(_ stored: [UInt8], of message: MACMessage) -> Bool {
        guard let mac = MAC(stored), let key = key(mac.key) else { return false }
        return key.mac(of: message).matches(mac)
    }
}
