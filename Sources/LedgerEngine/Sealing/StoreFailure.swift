/// The meaning of a database failure on one log for the sealer.
package enum StoreFailure: Hashable, Sendable {
    /// The connection is or will be lost: no log can be processed.
    case unavailable
    /// A retry may succeed: a lock, a timeout, or exhausted memory or disk.
    case temporary(String)
    /// A retry will fail: what is stored for this log can't be read, or a write is refused.
    case permanent(String)
}
