internal import COpenSSL
internal import Synchronization

/// A key in OpenSSL's form, with a pool of contexts that sign or verify with it.
///
/// OpenSSL's documentation lets a context make or check several signatures in turn. Creating one costs
/// some microseconds for algorithm lookups, so idle ones are kept.
// Protected by being immutable, and by the mutex around the contexts: a context is in there or with
// the one thread that took it. OpenSSL lets any number of threads use a key that none modifies.
@safe final class OpenSSLKey: @unchecked Sendable {
    /// More contexts than threads that use them at a time are useless.
    private static let idleContextsMax = 8

    private let key: OpaquePointer
    private let purpose: SignatureContext.Purpose
    private let idle = Mutex<[SignatureContext]>([])

    /// Creates the owner of a key that OpenSSL made; nil when it refused to.
    init?(owning made: OpaquePointer?, for purpose: SignatureContext.Purpose) {
        guard let made = unsafe made else {
            // A refusal leaves entries in the thread's error queue.
            ERR_clear_error()
            return nil
        }
        unsafe key = made
        self.purpose = purpose
    }

    deinit {
        // The contexts hold their own references. Freeing the last one wipes the secret numbers.
        unsafe EVP_PKEY_free(key)
    }

    /// Passes a context to the body and returns its result: whether OpenSSL succeeded.
    func withContext(
        for algorithm: SignatureAlgorithm, _ body: (SignatureContext) -> Bool
    ) -> Bool {
        let kept = idle.withLock { idle in
            idle.lastIndex { $0.algorithm == algorithm }.map { idle.remove(at: $0) }
        }
        guard let context = unsafe kept ?? SignatureContext(key: key, algorithm, for: purpose)
        else {
            preconditionFailure("OpenSSL can't use \(algorithm.rawValue) with a key that fits")
        }
        let hasSucceeded = body(context)
        if !hasSucceeded {
            ERR_clear_error()
        }
        idle.withLock { idle in
            if idle.count < OpenSSLKey.idleContextsMax {
                idle.append(context)
            }
        }
        return hasSucceeded
    }

    /// Returns a number of the key, big-endian; nil when the key does not have it.
    ///
    /// - Parameters:
    ///   - name: OpenSSL's name of the number.
    ///   - byteCount: The number of bytes, leading zeros included; nil for as few as possible.
    /// - Returns: The bytes, which the caller wipes when they are secret.
    func number(_ name: String, byteCount: Int? = nil) -> [UInt8]? {
        let count = unsafe byteCount ?? copenssl_number(key, name, nil, 0)
        var bytes = [UInt8](repeating: 0, count: count)
        guard count > 0, unsafe copenssl_number(key, name, &bytes, count) == count else {
            ERR_clear_error()
            return nil
        }
        return bytes
    }
}
