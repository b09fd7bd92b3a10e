import Synchronization

/// The MAC keys of the key directory: one that a log begins with, and all that a log may name.
///
/// It can be replaced while it is used, so that a rotation needs no restart.
package final class MACKeys: Sendable {
    private struct Content {
        var current: MACKey?
        var keys: [MACKey.ID: MACKey]
    }

    private let content: Mutex<Content>
    private let onUnknown = Mutex<(@Sendable () -> Void)?>(nil)
    /// When keys were asked for that nobody could bring.
    private let missed = Mutex<[MACKey.ID: ContinuousClock.Instant]>([:])

    /// How long a key that nobody could bring is not asked for again.
    private static let missedFor = Duration.seconds(1)
    private static let missedMax = 1_000

    /// Collects keys.
    ///
    /// - Parameters:
    ///   - current: the key that a log begins with; nil for a process that appends nothing.
    ///   - former: others, whose codes still count.
    package init(current: MACKey?, former: [MACKey] = []) {
        let all = former + [current].compactMap(\.self)
        content = Mutex(
            Content(
                current: current,
                keys: Dictionary(all.map { ($0.id, $0) }, uniquingKeysWith: { _, last in last })))
    }

    /// The key that a log begins with.
    package var current: MACKey? { content.withLock(\.current) }

    /// The ids of all keys.
    package var ids: Set<MACKey.ID> { Set(content.withLock(\.keys).keys) }

    /// Whether there is no key at all, so that nothing can be checked.
    package var isEmpty: Bool { content.withLock(\.keys).isEmpty }

    /// Takes the keys of another collection instead of those it has.
    package func use(_ other: MACKeys) {
        let new = other.content.withLock(\.self)
        content.withLock { $0 = new }
    }

    /// Has something called when a key is asked for that is not there; it may bring it, at the first try.
    ///
    /// It is called on the thread that asks, which goes on when it comes back.
    package func whenUnknown(_ body: @escaping @Sendable () -> Void) {
        onUnknown.withLock { $0 = body }
    }

    /// The key of an id; nil when the directory does not have it.
    func key(_ id: MACKey.ID) -> MACKey? {
        if let key = content.withLock({ $0.keys[id] }) { return key }
        guard let onUnknown = onUnknown.withLock(\.self), isWorthAsking(for: id) else { return nil }
        onUnknown()
        if let key = content.withLock({ $0.keys[id] }) { return key }
        missed.withLock { missed in
            if missed.count >= Self.missedMax { missed = [:] }
            missed[id] = .now
        }
        return nil
    }

    private func isWorthAsking(for id: MACKey.ID) -> Bool {
        missed.withLock { missed in
            missed[id].map { ContinuousClock.now - $0 >= Self.missedFor } ?? true
        }
    }

    /// Whether a stored code is the one of a message, by whichever key it names.
    func accept(_ stored: [UInt8], of message: MACMessage) -> Bool {
        guard let mac = MAC(stored), let key = key(mac.key) else { return false }
        return key.code(of: message).matches(mac)
    }
}
