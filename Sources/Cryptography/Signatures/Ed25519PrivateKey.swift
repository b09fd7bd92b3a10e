internal import COpenSSL

/// A private key for Ed25519 signatures, RFC 8032.
///
/// Printing, reflecting or interpolating one shows none of its bytes.
@safe
// Protected by being immutable. OpenSSL lets any number of threads use a key that none modifies.
package final class Ed25519PrivateKey: @unchecked Sendable, CustomStringConvertible,
    CustomReflectable
{
    /// The number of bytes of the secret that a key is derived from.
    package static let seedByteCount = 32

    /// The public key for verifying this key's signatures.
    package let publicKey: Ed25519PublicKey
    private let key: OpaquePointer

    /// Derives a key from its secret of exactly 32 bytes; nil for any other count.
    ///
    /// The caller's array is not wiped.
    package init?(seed: [UInt8]) {
        guard
            seed.count == Ed25519PrivateKey.seedByteCount,
            let made = unsafe EVP_PKEY_new_raw_private_key(
                EVP_PKEY_ED25519, nil, seed, seed.count)
        else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Ed25519PublicKey.byteCount)
        var count = bytes.count
        guard
            unsafe EVP_PKEY_get_raw_public_key(made, &bytes, &count) == 1,
            let publicKey = Ed25519PublicKey(bytes: bytes)
        else {
            unsafe EVP_PKEY_free(made)
            return nil
        }
        self.publicKey = publicKey
        unsafe key = made
    }

    deinit {
        // Freeing a key wipes its secret.
        unsafe EVP_PKEY_free(key)
    }

    /// Creates a new random key.
    package static func generate() -> Ed25519PrivateKey {
        var seed = SecureRandom.bytes(seedByteCount)
        defer { seed.wipe() }
        guard let key = Ed25519PrivateKey(seed: seed) else {
            preconditionFailure("OpenSSL can't make an Ed25519 key")
        }
        return key
    }

    /// Returns a copy of the 32 secret bytes, for writing the key to its file.
    ///
    /// The copy is an ordinary array: it is not wiped, so keep it short-lived and never log it.
    package func copiedSeed() -> [UInt8] {
        var seed = [UInt8](repeating: 0, count: Ed25519PrivateKey.seedByteCount)
        var count = seed.count
        let status = unsafe EVP_PKEY_get_raw_private_key(key, &seed, &count)
        precondition(status == 1 && count == seed.count, "OpenSSL can't export an Ed25519 key")
        return seed
    }

    /// Signs bytes; the signature of 64 bytes is deterministic.
    package func sign(_ bytes: [UInt8]) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else {
            preconditionFailure("OpenSSL has no memory for a context")
        }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: Ed25519PublicKey.signatureByteCount)
        var count = signature.count
        guard
            unsafe EVP_DigestSignInit(context, nil, nil, nil, key) == 1,
            unsafe EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1,
            count == signature.count
        else {
            preconditionFailure("OpenSSL can't sign by Ed25519")
        }
        return signature
    }

    /// The name of the type, without any key material.
    package var description: String {
        "Ed25519PrivateKey(redacted)"
    }

    /// A mirror without children, so that reflection shows no bytes.
    package var customMirror: Mirror {
        Mirror(self, children: [:])
    }
}
