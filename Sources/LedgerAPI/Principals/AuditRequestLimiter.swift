internal import Synchronization

/// A concurrency limiter for the requests of principals.
///
/// Their reads are slow and share few connections. If these requests queued for a connection, they
/// would use up the server's request capacity and block sign-ins; excess requests are refused
/// instead.
package final class AuditRequestLimiter: Sendable {
    private let limit: Int
    private let inUse = Mutex(0)

    /// Creates a limiter for this many concurrent requests.
    package init(limit: Int = 16) {
        self.limit = limit
    }

    /// Acquires a permit; false when none is available.
    func acquire() -> Bool {
        inUse.withLock { inUse in
            guard inUse < limit else { return false }
            inUse += 1
            return true
        }
    }

    /// Releases a permit.
    func release() {
        inUse.withLock { $0 -= 1 }
    }
}
