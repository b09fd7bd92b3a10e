internal import COpenSSL

/// A public key for Ed25519 signatures, RFC 8032.
// Protected by being immutable. OpenSSL lets any number of threads use a key that none modifies.
@safe package final class Ed25519PublicKey: @unchecked Sendable {
    /// The number of bytes of a public key.
    package static let byteCount = 32
    /// The number of bytes of a signature.
    package static let signatureByteCount = 64

    /// The 32 bytes of the key.
    package let bytes: [UInt8]
    private let key: OpaquePointer

    /// Wraps exactly 32 bytes; nil for any other count.
    ///
    /// Bytes that do not encode a point of the curve are accepted too: no signature is valid for that key.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Ed25519PublicKey.byteCount else {
            return nil
        }
        guard
            let made = unsafe EVP_PKEY_new_raw_public_key(
                EVP_PKEY_ED25519, nil, bytes, bytes.count)
        else {
            ERR_clear_error()
            return nil
        }
        self.bytes = bytes
        unsafe key = made
    }

    deinit {
        unsafe EVP_PKEY_free(key)
    }

    /// Checks whether a signature of these bytes was made with the private key.
    package func verifies(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
        guard signature.count == Ed25519PublicKey.signatureByteCount else {
            return false
        }
        guard let context = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a context")
        }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else {
            preconditionFailure("OpenSSL can't check an Ed25519 signature")
        }
        let status = unsafe EVP_DigestVerify(
            context, signature, signature.count, signed, signed.count)
        if status != 1 {
            ERR_clear_error()
        }
        return status == 1
    }
}
