internal import COpenSSL

/// Compares two runs of bytes in a time that depends on their lengths only.
///
/// Use it for everything an attacker may guess byte by byte: codes, tokens, digests of secrets.
package func constantTimeEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    guard a.count == b.count else {
        return false
    }
    return unsafe a.withUnsafeBytes { left in
        unsafe b.withUnsafeBytes { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}
