internal import COpenSSL

/// A SHA-256 digest of bytes that come one after another.
///
/// A class with a context of its own: a value that another module keeps, of a type that is private
/// here, does not link in release builds of Swift 6.3.1.
@safe package final class RunningSHA256 {
    private let context: OpaquePointer

    /// Begins with no bytes.
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

    /// Takes the next bytes.
    package func update(_ bytes: [UInt8]) {
        let status = unsafe EVP_DigestUpdate(context, bytes, bytes.count)
        precondition(status == 1, "OpenSSL can't continue a SHA-256 digest")
    }

    /// The digest of all bytes that were taken; nothing can be added then.
    package func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
        let status = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        precondition(status == 1, "OpenSSL can't end a SHA-256 digest")
        return digest
    }
}

// A library's handle that one thread uses.
@available(*, unavailable)
extension RunningSHA256: Sendable {}
