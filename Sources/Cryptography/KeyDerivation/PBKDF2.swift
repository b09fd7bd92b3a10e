internal import COpenSSL

/// PBKDF2 with HMAC, RFC 8018 section 5.2, for password hashes of other systems.
package enum PBKDF2 {
    /// The digest of its HMAC.
    package enum Digest: Sendable {
        case sha1
        case sha256
        case sha512

        /// The number of bytes that one block of the output has.
        package var byteCount: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            case .sha512: 64
            }
        }

        fileprivate var algorithm: OpaquePointer {
            switch self {
            case .sha1: unsafe FetchedAlgorithms.sha1
            case .sha256: unsafe FetchedAlgorithms.sha256
            case .sha512: unsafe FetchedAlgorithms.sha512
            }
        }
    }

    /// Derives bytes from a password; each block of the output costs all iterations.
    package static func derive(
        _ password: WipedBytes, salt: [UInt8], iterations: Int, digest: Digest, count: Int
    ) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { output, filled in
            let status = unsafe password.withBytes { bytes in
                unsafe PKCS5_PBKDF2_HMAC(
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count),
                    salt,
                    Int32(salt.count), Int32(iterations), digest.algorithm, Int32(count),
                    output.baseAddress)
            }
            precondition(status == 1, "OpenSSL can't compute PBKDF2")
            filled = count
        }
    }
}
