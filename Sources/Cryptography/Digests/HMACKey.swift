internal import COpenSSL
internal import Synchronization

/// A key of HMAC with SHA-256, RFC 2104, for many messages.
///
/// OpenSSL derives its state from the key once, which saves each MAC the two digests of the key's
/// block. One thread at a time computes a MAC.
package final class HMACKey: Sendable {
    private let context: Mutex<MACContext>

    /// Creates a key from a secret.
    package init(_ secret: SymmetricKey) {
        context = Mutex(unsafe secret.withBytes { bytes in unsafe MACContext(key: bytes) })
    }

    /// Computes the 32-byte MAC of a message; compare MACs with `constantTimeEqual`.
    package func mac(of message: [UInt8]) -> [UInt8] {
        context.withLock { $0.mac(of: message) }
    }

    /// Computes the first 16 bytes of the MAC of a message (RFC 2104, section 5), the most
    /// significant first, without an array for them.
    package func truncatedMAC(of message: [UInt8]) -> UInt128 {
        context.withLock { $0.truncatedMAC(of: message) }
    }
}

/// An HMAC computation; owns its OpenSSL context, which keeps the state derived from the key.
@safe struct MACContext: ~Copyable {
    private let context: OpaquePointer

    /// Starts with a key of any length, including zero.
    init(key: UnsafeRawBufferPointer) {
        guard let made = unsafe EVP_MAC_CTX_dup(FetchedAlgorithms.hmacSHA256) else {
            preconditionFailure("OpenSSL can't make an HMAC context")
        }
        unsafe context = made
        // To OpenSSL, a null pointer is no key, rather than an empty one.
        let status = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { empty in
            unsafe EVP_MAC_init(
                made,
                key.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    ?? UnsafePointer(empty.baseAddress),
                key.count, nil)
        }
        precondition(status == 1, "OpenSSL can't start an HMAC")
    }

    deinit {
        unsafe EVP_MAC_CTX_free(context)
    }

    /// Computes the 32-byte MAC of a message, and starts anew with the same key.
    func mac(of message: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { output, count in
            unsafe compute(of: message, into: output)
            count = SHA256.byteCount
        }
    }

    /// Computes the first 16 bytes of the MAC of a message, and starts anew with the same key.
    func truncatedMAC(of message: [UInt8]) -> UInt128 {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: SHA256.byteCount) { output in
            unsafe compute(of: message, into: output)
            return unsafe UInt128(
                bigEndian: UnsafeRawBufferPointer(output).loadUnaligned(as: UInt128.self))
        }
    }

    private func compute(of message: [UInt8], into output: UnsafeMutableBufferPointer<UInt8>) {
        var count = 0
        let isDone = unsafe message.withUnsafeBufferPointer { bytes in
            unsafe EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1
                && EVP_MAC_final(context, output.baseAddress, &count, output.count) == 1
                && EVP_MAC_init(context, nil, 0, nil) == 1
        }
        precondition(isDone && count == SHA256.byteCount, "OpenSSL can't compute an HMAC")
    }
}
