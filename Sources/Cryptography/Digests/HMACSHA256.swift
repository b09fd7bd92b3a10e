internal import COpenSSL

/// HMAC with SHA-256, RFC 2104.
package enum HMACSHA256 {
    /// Computes the 32-byte authentication code of a message.
    ///
    /// Compare codes with `constantTimeEqual`. Any key length is accepted, zero included.
    package static func code(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { output, count in
            let result = unsafe key.withUnsafeBytes { keyBytes in
                unsafe message.withUnsafeBufferPointer { messageBytes in
                    unsafe HMAC(
                        FetchedAlgorithms.sha256, keyBytes.baseAddress, Int32(keyBytes.count),
                        messageBytes.baseAddress, messageBytes.count, output.baseAddress, nil)
                }
            }
            let succeeded = unsafe result != nil
            precondition(succeeded, "OpenSSL can't compute an HMAC")
            count = SHA256.byteCount
        }
    }
}
