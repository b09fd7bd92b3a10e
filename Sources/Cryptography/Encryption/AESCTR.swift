internal import COpenSSL

/// AES-256 in counter mode with a counter that begins at zero, for Firebase's password hashes.
///
/// It authenticates nothing and may encrypt one message per key only: use ``AESGCM`` for anything else.
package enum AESCTR {
    /// Encrypts or decrypts a message.
    package static func crypt(_ message: [UInt8], key: SymmetricKey) -> [UInt8] {
        guard let context = unsafe EVP_CIPHER_CTX_new() else {
            preconditionFailure("OpenSSL can't make a cipher context")
        }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let counter = [UInt8](repeating: 0, count: 16)
        let started = unsafe key.withBytes { bytes in
            unsafe EVP_EncryptInit_ex2(
                context, FetchedAlgorithms.aes256CTR,
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), counter, nil)
        }
        precondition(started == 1, "OpenSSL can't start AES-256-CTR")
        return unsafe [UInt8](unsafeUninitializedCapacity: message.count) { output, count in
            var written: Int32 = 0
            let status = unsafe EVP_EncryptUpdate(
                context, output.baseAddress, &written, message, Int32(message.count))
            precondition(
                (status == 1 || message.isEmpty) && Int(written) == message.count,
                "AES-256-CTR wrote too few bytes")
            count = message.count
        }
    }
}
