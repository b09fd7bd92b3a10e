internal import COpenSSL

/// Compares two byte sequences in a time that depends only on their lengths.
///
/// Use it for everything that an attacker could guess byte by byte: MACs, tokens, digests of secrets.
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
