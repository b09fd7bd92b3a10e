internal import COpenSSL

/// HMAC with SHA-256, RFC 2104.
package enum HMACSHA256 {
    /// Computes the 32-byte authentication code of a message.
    ///
    /// Compare codes with `constantTimeEqual`. Keys may have any length, including zero.
    package static func code(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        unsafe key.withUnsafeBytes { keyBytes in
            unsafe code(key: keyBytes, message)
        }
    }

    /// Computes the code of a message with a secret key, without copying the key.
    package static func code(key: SymmetricKey, _ message: [UInt8]) -> [UInt8] {
        unsafe key.withBytes { keyBytes in
            unsafe code(key: keyBytes, message)
        }
    }

    /// Computes the code of a message with the UTF-8 bytes of a text as the key.
    package static func code(key: String, _ message: [UInt8]) -> [UInt8] {
        var key = key
        return key.withUTF8 { keyBytes in
            unsafe code(key: UnsafeRawBufferPointer(keyBytes), message)
        }
    }

    private static func code(key: UnsafeRawBufferPointer, _ message: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { output, count in
            let status = unsafe message.withUnsafeBufferPointer { messageBytes in
                unsafe copenssl_hmac_sha256(
                    FetchedAlgorithms.sha256,
                    key.baseAddress?.assumingMemoryBound(to: UInt8.self), key.count,
                    messageBytes.baseAddress, messageBytes.count, output.baseAddress)
            }
            precondition(status == 1, "OpenSSL can't compute an HMAC")
            count = SHA256.byteCount
        }
    }
}
