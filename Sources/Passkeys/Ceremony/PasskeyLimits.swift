/// The most bytes of each input; the limits are checked before any work is done.
package enum PasskeyLimits {
    /// A response as JSON.
    package static let responseBytesMax = 64 << 10
    /// Client data, which browsers make of about 200 bytes.
    package static let clientDataBytesMax = 4 << 10
    /// An attestation object, with its certificates.
    package static let attestationObjectBytesMax = 16 << 10
    /// The authenticator data of an assertion.
    package static let authenticatorDataBytesMax = 4 << 10
    /// A signature; one of RS256 has 256.
    package static let signatureBytesMax = 1 << 10
    /// The id of a credential: WebAuthn level 2, section 6.5.1.
    package static let credentialIDBytesMax = 1_023
    /// A user handle: WebAuthn level 2, section 5.4.3.
    package static let userHandleBytesMax = 64
    /// The number of a credential's transports, and the characters of each.
    package static let transportCountMax = 8
    package static let transportBytesMax = 32
    /// The numbers of bytes that a challenge may have: at least 128 bits.
    package static let challengeByteCounts = 16...64
}
