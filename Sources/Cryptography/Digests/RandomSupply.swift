internal import Synchronization

/// Unpredictable bytes for salts and identifiers, taken from OpenSSL's generator some kilobytes at a time.
///
/// Asking for a few bytes costs most of a microsecond of bookkeeping, as much as for hundreds. What is
/// handed out is wiped here at once, so that a salt is nowhere but where it was put. Not for keys: bytes that
/// are handed out later lie in memory meanwhile.
package final class RandomSupply: Sendable {
    private static let byteCount = 4096
    /// More than that is asked for by itself: it would throw much of a supply away.
    private static let sharedMax = 256

    private struct State {
        var bytes: [UInt8] = []
        /// The first byte that nobody has yet.
        var next = 0
    }

    private let state = Mutex(State())

    /// Makes an empty supply.
    package init() {}

    /// Takes bytes that nobody gets again.
    package func bytes(_ count: Int) -> [UInt8] {
        guard count <= Self.sharedMax else { return SecureRandom.bytes(count) }
        return state.withLock { state in
            if state.bytes.count - state.next < count {
                state.bytes = SecureRandom.bytes(Self.byteCount)
                state.next = 0
            }
            let taken = state.next..<state.next + count
            let bytes = Array(state.bytes[taken])
            for index in taken {
                state.bytes[index] = 0
            }
            state.next = taken.upperBound
            return bytes
        }
    }
}
