internal import Synchronization

/// Unpredictable bits for identifiers and nonces, taken from OpenSSL's generator some kilobytes at a time.
///
/// Asking for 16 bytes at a time costs most of a microsecond of bookkeeping, and a request needs three
/// identifiers and a nonce. Not for secrets: bits that are handed out later lie in memory meanwhile.
package final class IdentifierBits: Sendable {
    private static let wordCount = 512

    private let words = Mutex<[UInt64]>([])

    /// Makes an empty store.
    package init() {}

    /// Takes 128 bits that nobody gets again.
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
