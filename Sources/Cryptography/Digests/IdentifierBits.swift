internal import Synchronization

/// Unpredictable bits for identifiers and nonces, drawn from OpenSSL's generator in blocks of kilobytes.
///
/// A call for 16 bytes costs most of a microsecond of overhead, and a request needs three identifiers and
/// a nonce. Not for secrets: unused bits stay in memory.
package final class IdentifierBits: Sendable {
    private static let wordCount = 512

    private let words = Mutex<[UInt64]>([])

    /// Creates an empty supply.
    package init() {}

    /// Returns 128 bits, which are never returned again.
    package func next() -> UInt128 {
        words.withLock { words in
            while true {
                if let high = words.popLast(), let low = words.popLast() {
                    return UInt128(high) << 64 | UInt128(low)
                }
                words = unsafe [UInt64](unsafeUninitializedCapacity: Self.wordCount) {
                    unsafe SecureRandom.fill(UnsafeMutableRawBufferPointer($0))
                    $1 = Self.wordCount
                }
            }
        }
    }
}
