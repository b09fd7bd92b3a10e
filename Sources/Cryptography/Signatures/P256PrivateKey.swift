internal import COpenSSL
import Encodings
import JSON
internal import Synchronization

/// A private key on P-256 in OpenSSL's form, with a pool of signing contexts.
///
/// OpenSSL's documentation lets a context make several signatures in turn. Creating one costs some
/// microseconds for algorithm lookups, so idle ones are kept.
// Protected by being immutable, and by the mutex around the contexts: a context is in there or with
// the one thread that took it. OpenSSL lets any number of threads use a key that none modifies.
@safe final class P256PrivateKey: @unchecked Sendable {
    /// The number of bytes of a signature: two numbers of equal length, RFC 7518 section 3.4.
    static let signatureByteCount = 64

    /// More contexts than concurrently signing threads are useless.
    private static let idleContextsMax = 8
    private static let secretByteCount = 32

    private let key: OpaquePointer
    private let idle = Mutex<[SigningContext]>([])

    /// Makes a key from the secret number `d` of a private JWK with a checked public part; nil when OpenSSL
    /// refuses it.
    ///
    /// The caller checks that the private and public parts match.
    init?(_ parameters: JWKParameters, privateJWK: [UInt8]) {
        guard
            case .p256(let x, let y) = parameters,
            let text = JSONValue(parsing: privateJWK)?.members?["d"]?.string,
            var secret = Base64URL.decode(text)
        else {
            return nil
        }
        defer {
            unsafe secret.withUnsafeMutableBytes {
                unsafe OPENSSL_cleanse($0.baseAddress, $0.count)
            }
        }
        // RFC 7518 section 6.2.2.1: as long as the curve's order, leading zeros included.
        guard secret.count == P256PrivateKey.secretByteCount else {
            return nil
        }
        guard
            let made = unsafe copenssl_p256_key_pair(
                [0x04] + x + y, 1 + x.count + y.count, secret)
        else {
            ERR_clear_error()
            return nil
        }
        unsafe key = made
    }

    deinit {
        // The contexts hold their own references.
        unsafe EVP_PKEY_free(key)
    }

    /// Signs bytes with ES256 and writes the 64-byte signature.
    func sign(_ bytes: UnsafeRawBufferPointer, to signature: UnsafeMutablePointer<UInt8>) {
        let kept = idle.withLock { idle in
            idle.popLast()
        }
        guard let context = unsafe kept ?? SigningContext(key: key) else {
            preconditionFailure("OpenSSL can't sign with a key on P-256")
        }
        unsafe context.sign(bytes, to: signature)
        idle.withLock { idle in
            if idle.count < P256PrivateKey.idleContextsMax {
                idle.append(context)
            }
        }
    }
}

/// OpenSSL's state for ES256 signatures with one key.
// Protected by its owner: `P256PrivateKey` passes it to one thread at a time.
@safe private final class SigningContext: @unchecked Sendable {
    private let context: OpaquePointer

    init?(key: OpaquePointer) {
        guard let made = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            return nil
        }
        guard
            unsafe EVP_PKEY_sign_init(made) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(made, FetchedAlgorithms.sha256) == 1
        else {
            unsafe EVP_PKEY_CTX_free(made)
            return nil
        }
        unsafe context = unsafe made
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(context)
    }

    func sign(_ bytes: UnsafeRawBufferPointer, to signature: UnsafeMutablePointer<UInt8>) {
        unsafe withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: SHA256.byteCount
        ) { digest in
            var count: UInt32 = 0
            let isDigested = unsafe EVP_Digest(
                bytes.baseAddress, bytes.count, digest.baseAddress, &count,
                FetchedAlgorithms.sha256, nil)
            precondition(isDigested == 1, "OpenSSL can't digest")
            let isSigned = unsafe copenssl_p256_sign(
                context, digest.baseAddress, Int(count), signature)
            precondition(isSigned == 1, "OpenSSL can't sign with a key on P-256")
        }
    }
}
