/// The signature algorithms of passkeys, by their numbers in the COSE registry.
package enum PasskeyAlgorithm: Int, Hashable, Sendable, CaseIterable {
    /// ECDSA on P-256 with SHA-256.
    case es256 = -7
    /// Ed25519; COSE's EdDSA with other curves is not supported.
    case edDSA = -8
    /// RSASSA-PKCS1-v1_5 with SHA-256 and a key of 2048 bits.
    case rs256 = -257

    /// The number of bytes of a public key as ``PasskeyPublicKey`` has it.
    var publicKeyByteCount: Int {
        switch self {
        case .es256: 64
        case .edDSA: 32
        case .rs256: 259
        }
    }
}
