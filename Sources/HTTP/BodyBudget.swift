import Synchronization

/// The memory that all large bodies share, from their first byte until they are answered.
///
/// Small bodies are part of what a connection costs and take nothing from it.
final class BodyBudget: Sendable {
    private let bytesMax: Int
    private let held = Mutex(0)

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// The bytes that are taken now.
    var bytesHeld: Int { held.withLock(\.self) }

    /// Takes so many bytes; false when not all of them are left.
    func take(_ count: Int) -> Bool {
        held.withLock { held in
            guard count <= bytesMax - held else { return false }
            held += count
            return true
        }
    }

    /// Gives bytes back that were taken.
    func giveBack(_ count: Int) {
        held.withLock { $0 -= count }
    }
}
