internal import COpenSSL

/// A public key that checks signatures.
struct PublicKey: Sendable {
    private let key: OpenSSLKey

    /// Creates a key from validated parameters; nil when OpenSSL refuses them, such as a point off the curve.
    init?(_ parameters: JWKParameters) {
        let made =
            switch parameters {
            case .rsa(let modulus, let exponent):
                unsafe copenssl_rsa_key(modulus + exponent, [modulus.count, exponent.count], 2)
            case .p256(let x, let y):
                unsafe copenssl_p256_key([0x04] + x + y, nil)
            }
        guard let key = unsafe OpenSSLKey(owning: made, for: .verifying) else {
            return nil
        }
        self.key = key
    }

    /// Checks whether a signature of these bytes was made with the private key.
    ///
    /// The caller has checked the algorithm against its allow-list and the key, and the signature's length
    /// against the key's size.
    func verifies(
        _ signature: [UInt8], of signed: UnsafeRawBufferPointer, by algorithm: SignatureAlgorithm
    ) -> Bool {
        key.withContext(for: algorithm) { context in
            unsafe context.verifies(signature, of: signed)
        }
    }
}
