import Synchronization

/// The memory budget shared by all large bodies, from their first byte until they are answered.
///
/// Small bodies are part of the cost of a connection and do not count.
final class BodyBudget: Sendable {
    private let bytesMax: Int
    private let held = Mutex(0)

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// The bytes in use.
    var bytesHeld: Int { held.withLock(\.self) }

    /// Reserves bytes; false when too few are left.
    func reserve(_ count: Int) -> Bool {
        held.withLock { held in
            guard count <= bytesMax - held else { return false }
            held += count
            return true
        }
    }

    /// Releases reserved bytes.
    func release(_ count: Int) {
        held.withLock { $0 -= count }
    }
}
