internal import COpenSSL

/// OpenSSL's state for making or checking signatures with one key and one algorithm.
// Protected by its owner: `OpenSSLKey` passes it to one thread at a time.
@safe final class SignatureContext: @unchecked Sendable {
    /// The operation that a context is prepared for.
    enum Purpose {
        case signing
        case verifying
    }

    let algorithm: SignatureAlgorithm
    private let context: OpaquePointer
    private let digest: OpaquePointer

    init?(key: OpaquePointer, _ algorithm: SignatureAlgorithm, for purpose: Purpose) {
        let digest = unsafe Self.digest(of: algorithm)
        guard let made = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
            return nil
        }
        let status =
            switch purpose {
            case .signing: unsafe EVP_PKEY_sign_init(made)
            case .verifying: unsafe EVP_PKEY_verify_init(made)
            }
        guard
            status == 1, unsafe EVP_PKEY_CTX_set_signature_md(made, digest) == 1,
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

    /// Signs bytes and fills the buffer with the signature; false when OpenSSL can't.
    func sign(
        _ bytes: UnsafeRawBufferPointer, to signature: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        unsafe withDigest(of: bytes) { digest in
            if algorithm == .es256 {
                return unsafe copenssl_p256_sign(
                    context, digest.baseAddress, digest.count, signature.baseAddress) == 1
            }
            var count = signature.count
            let status = unsafe EVP_PKEY_sign(
                context, signature.baseAddress, &count, digest.baseAddress, digest.count)
            return status == 1 && count == signature.count
        }
    }

    /// Checks whether a signature of these bytes was made with the private key.
    func verifies(_ signature: [UInt8], of signed: UnsafeRawBufferPointer) -> Bool {
        let encoded = algorithm == .es256 ? Self.sequence(of: signature) : signature
        guard let encoded else {
            return false
        }
        return unsafe withDigest(of: signed) { digest in
            unsafe EVP_PKEY_verify(
                context, encoded, encoded.count, digest.baseAddress, digest.count) == 1
        }
    }

    private func withDigest(
        of bytes: UnsafeRawBufferPointer, _ body: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        unsafe withUnsafeTemporaryAllocation(
            of: UInt8.self, capacity: Int(EVP_MAX_MD_SIZE)
        ) { output in
            var count: UInt32 = 0
            let status = unsafe EVP_Digest(
                bytes.baseAddress, bytes.count, output.baseAddress, &count, digest, nil)
            precondition(status == 1, "OpenSSL can't digest")
            return unsafe body(UnsafeBufferPointer(rebasing: output[..<Int(count)]))
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
