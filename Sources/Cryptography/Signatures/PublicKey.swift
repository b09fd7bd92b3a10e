internal import COpenSSL
internal import Synchronization

/// A public key in OpenSSL's form, with a pool of verification contexts.
///
/// OpenSSL's documentation lets a context check several signatures in turn. Creating one costs some
/// microseconds for algorithm lookups, so idle ones are kept.
// Protected by being immutable, and by the mutex around the contexts: a context is in there or with
// the one thread that took it. OpenSSL lets any number of threads use a key that none modifies.
@safe final class PublicKey: @unchecked Sendable {
    /// More contexts than concurrently checking threads are useless.
    private static let idleContextsMax = 8

    private let key: OpaquePointer
    private let idle = Mutex<[VerificationContext]>([])

    /// Makes a key from validated parameters; nil when OpenSSL refuses them, such as a point off the curve.
    init?(_ parameters: JWKParameters) {
        guard let made = unsafe Self.imported(parameters) else {
            // A refusal leaves entries in the thread's error queue.
            ERR_clear_error()
            return nil
        }
        unsafe key = made
    }

    private static func imported(_ parameters: JWKParameters) -> OpaquePointer? {
        switch parameters {
        case .rsa(let modulus, let exponent):
            unsafe copenssl_rsa_key(modulus, modulus.count, exponent, exponent.count)
        case .p256(let x, let y):
            // The uncompressed form of the point.
            unsafe copenssl_p256_key([0x04] + x + y, 1 + x.count + y.count)
        }
    }

    deinit {
        // The contexts hold their own references.
        unsafe EVP_PKEY_free(key)
    }

    /// Checks whether a signature of these bytes was made with the private key.
    ///
    /// The caller has checked the algorithm against its allow-list and the key, and the signature's length
    /// against the key's size.
    func verifies(
        _ signature: [UInt8], of signed: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm
    ) -> Bool {
        let kept = idle.withLock { idle in
            idle.lastIndex { $0.algorithm == algorithm }.map { idle.remove(at: $0) }
        }
        guard let context = unsafe kept ?? VerificationContext(key: key, algorithm) else {
            preconditionFailure("OpenSSL can't check \(algorithm.rawValue) with a key that fits")
        }
        let isGood = unsafe context.verifies(signature, of: signed)
        if !isGood {
            ERR_clear_error()
        }
        idle.withLock { idle in
            if idle.count < PublicKey.idleContextsMax {
                idle.append(context)
            }
        }
        return isGood
    }
}

/// OpenSSL's state for checking signatures with one key and one algorithm.
// Protected by its owner: `PublicKey` passes it to one thread at a time.
@safe private final class VerificationContext: @unchecked Sendable {
    let algorithm: SignatureAlgorithm
    private let context: OpaquePointer
    private let digest: OpaquePointer

    init?(key: OpaquePointer, _ algorithm: SignatureAlgorithm) {
        let digest = unsafe Self.digest(of: algorithm)
        guard let made = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            return nil
        }
        guard
            unsafe EVP_PKEY_verify_init(made) == 1,
            unsafe EVP_PKEY_CTX_set_signature_md(made, digest) == 1,
            unsafe Self.setPadding(of: algorithm, digest, in: made)
        else {
            unsafe EVP_PKEY_CTX_free(made)
            return nil
        }
        self.algorithm = algorithm
        unsafe self.digest = unsafe digest
        unsafe context = unsafe made
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(context)
    }

    func verifies(_ signature: [UInt8], of signed: UnsafeRawBufferPointer) -> Bool {
        let encoded = algorithm == .es256 ? Self.sequence(of: signature) : signature
        guard let encoded else {
            return false
        }
        return unsafe withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: Int(EVP_MAX_MD_SIZE)
        ) { output in
            var count: UInt32 = 0
            let status = unsafe EVP_Digest(
                signed.baseAddress, signed.count, output.baseAddress, &count, digest, nil)
            precondition(status == 1, "OpenSSL can't digest")
            return unsafe encoded.withUnsafeBufferPointer { encoded in
                unsafe EVP_PKEY_verify(
                    context, encoded.baseAddress, encoded.count, output.baseAddress, Int(count))
                    == 1
            }
        }
    }

    private static func digest(of algorithm: SignatureAlgorithm) -> OpaquePointer {
        switch algorithm {
        case .rs256, .ps256, .es256: unsafe FetchedAlgorithms.sha256
        case .rs384: unsafe FetchedAlgorithms.sha384
        case .rs512: unsafe FetchedAlgorithms.sha512
        }
    }

    private static func setPadding(
        of algorithm: SignatureAlgorithm, _ digest: OpaquePointer, in context: OpaquePointer
    ) -> Bool {
        switch algorithm {
        case .es256: true
        case .rs256, .rs384, .rs512:
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        case .ps256:
            // RFC 7518 section 3.5: the salt is as long as the digest, the mask uses the same hash.
            unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
        }
    }

    /// Returns the DER form of an ECDSA signature, which a JWS encodes as two numbers of equal length.
    private static func sequence(of signature: [UInt8]) -> [UInt8]? {
        let half = Int32(signature.count / 2)
        guard let pair = unsafe ECDSA_SIG_new() else {
            return nil
        }
        defer { unsafe ECDSA_SIG_free(pair) }
        let isSet = unsafe signature.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else {
                return false
            }
            return unsafe ECDSA_SIG_set0(
                pair, BN_bin2bn(start, half, nil), BN_bin2bn(start + Int(half), half, nil)) == 1
        }
        guard isSet else {
            return nil
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = unsafe i2d_ECDSA_SIG(pair, &encoded)
        defer { unsafe CRYPTO_free(encoded, #file, #line) }
        guard count > 0 else {
            return nil
        }
        return unsafe [UInt8](UnsafeBufferPointer(start: encoded, count: Int(count)))
    }
}
