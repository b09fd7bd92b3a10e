internal import COpenSSL

/// An incremental SHA-256 digest.
///
/// A class with its own context: a value stored in another module whose type contains a private type of
/// this module does not link in release builds of Swift 6.3.1.
@safe package final class RunningSHA256 {
    private let context: OpaquePointer

    /// Starts an empty digest.
    package init() {
        guard
            let made = unsafe EVP_MD_CTX_new(),
            unsafe EVP_DigestInit_ex2(made, FetchedAlgorithms.sha256, nil) == 1
        else {
            preconditionFailure("OpenSSL can't start a SHA-256 digest")
        }
        unsafe context = made
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    /// Adds the next bytes.
    package func update(_ bytes: [UInt8]) {
        let status = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(status == 1, "OpenSSL can't continue a SHA-256 digest")
    }

    /// Returns the digest of all bytes; nothing can be added afterwards.
    package func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
        let status = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        precondition(status == 1, "OpenSSL can't end a SHA-256 digest")
        return digest
    }
}

// The handle may be used by one thread only.
@available(*, unavailable)
extension RunningSHA256: Sendable {}
