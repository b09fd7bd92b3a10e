internal import Synchronization

/// Unpredictable bytes for salts and identifiers, drawn from OpenSSL's generator in blocks of kilobytes.
///
/// A call for a few bytes costs most of a microsecond of overhead, as much as one for hundreds. Returned
/// bytes are wiped here immediately, so that no copy of a salt remains. Not for keys: unused bytes stay in
/// memory.
package final class RandomSupply: Sendable {
    private static let byteCount = 4096
    /// Larger requests go to the generator directly: they would discard much of the supply.
    private static let sharedMax = 256

    private struct State {
        var bytes: [UInt8] = []
        /// The index of the first unused byte.
        var next = 0
    }

    private let state = Mutex(State())

    /// Creates an empty supply.
    package init() {}

    /// Returns bytes, which are never returned again.
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
