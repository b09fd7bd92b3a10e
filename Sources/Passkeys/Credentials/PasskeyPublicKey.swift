/// The public key of a passkey, in the form in which it is stored.
package struct PasskeyPublicKey: Hashable, Sendable {
    /// The algorithm of the key's signatures.
    package let algorithm: PasskeyAlgorithm
    /// The key, big-endian and of a fixed length.
    ///
    /// - ES256: the coordinates x and y of the point, 32 bytes each.
    /// - EdDSA: the 32 bytes of RFC 8032.
    /// - RS256: the modulus of 256 bytes, then the exponent of 3.
    package let bytes: [UInt8]

    /// Checks that the bytes are a key, for ES256 also that the point is on the curve.
    ///
    /// - Throws: `invalidPublicKey`, or `noMemory`.
    package init(algorithm: PasskeyAlgorithm, bytes: [UInt8]) throws(PasskeyFault) {
        self.algorithm = algorithm
        self.bytes = bytes
        _ = try FIDOPublicKey.imported(self)
    }

    /// Describes a stored key, which was checked at registration; a signature never verifies with an invalid key.
    package init(stored algorithm: PasskeyAlgorithm, bytes: [UInt8]) {
        self.algorithm = algorithm
        self.bytes = bytes
    }
}
