internal import COpenSSL

/// HMAC with SHA-256, RFC 2104, for keys that are used once; others are an ``HMACKey``.
package enum HMACSHA256 {
    /// Computes the 32-byte MAC of a message.
    ///
    /// Compare MACs with `constantTimeEqual`. Keys may have any length, including zero.
    package static func mac(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        unsafe key.withUnsafeBytes { keyBytes in
            unsafe mac(key: keyBytes, message)
        }
    }

    /// Computes the MAC of a message with the UTF-8 bytes of a text as the key.
    package static func mac(key: String, _ message: [UInt8]) -> [UInt8] {
        var key = key
        return key.withUTF8 { keyBytes in
            unsafe mac(key: UnsafeRawBufferPointer(keyBytes), message)
        }
    }

    private static func mac(key: UnsafeRawBufferPointer, _ message: [UInt8]) -> [UInt8] {
        unsafe MACContext(key: key).mac(of: message)
    }
}
