internal import COpenSSL

/// The OpenSSL algorithms of this module, fetched once per process.
///
/// Each is immutable after the fetch and may be used by any thread (`EVP_MD_fetch(3)`). They are
/// never freed: they are needed as long as the process runs.
enum FetchedAlgorithms {
    /// For imported password hashes only.
    // Protected by being written once, under the lock of Swift's lazy global initialisation.
    nonisolated(unsafe) static let sha1: OpaquePointer = unsafe fetched(
        EVP_MD_fetch(nil, "SHA1", nil), name: "SHA-1")

    // Protected by being written once, under the lock of Swift's lazy global initialisation.
    nonisolated(unsafe) static let sha256: OpaquePointer = unsafe fetched(
        EVP_MD_fetch(nil, "SHA256", nil), name: "SHA-256")

    // Protected by being written once, under the lock of Swift's lazy global initialisation.
    nonisolated(unsafe) static let sha384: OpaquePointer = unsafe fetched(
        EVP_MD_fetch(nil, "SHA384", nil), name: "SHA-384")

    // Protected by being written once, under the lock of Swift's lazy global initialisation.
    nonisolated(unsafe) static let sha512: OpaquePointer = unsafe fetched(
        EVP_MD_fetch(nil, "SHA512", nil), name: "SHA-512")

    // Protected by being written once, under the lock of Swift's lazy global initialisation.
    nonisolated(unsafe) static let aes256GCM: OpaquePointer = unsafe fetched(
        EVP_CIPHER_fetch(nil, "AES-256-GCM", nil), name: "AES-256-GCM")

    // Protected by being written once, under the lock of Swift's lazy global initialisation.
    nonisolated(unsafe) static let aes256CTR: OpaquePointer = unsafe fetched(
        EVP_CIPHER_fetch(nil, "AES-256-CTR", nil), name: "AES-256-CTR")

    /// HMAC with SHA-256, without a key: to be duplicated only.
    // Protected by being written once, under the lock of Swift's lazy global initialisation, and only
    // read afterwards: duplicating a context does not change it.
    nonisolated(unsafe) static let hmacSHA256: OpaquePointer = {
        let algorithm = unsafe fetched(EVP_MAC_fetch(nil, "HMAC", nil), name: "HMAC")
        guard let context = unsafe EVP_MAC_CTX_new(algorithm),
            unsafe copenssl_use_sha256(context) == 1
        else { preconditionFailure("OpenSSL can't make an HMAC context") }
        return unsafe context
    }()

    private static func fetched(_ algorithm: OpaquePointer?, name: String) -> OpaquePointer {
        guard let algorithm = unsafe algorithm else {
            preconditionFailure("this OpenSSL has no \(name)")
        }
        return unsafe algorithm
    }
}
