/// A credential that an authenticator has made, verified.
package struct NewPasskey: Hashable, Sendable {
    /// The id that the authenticator has chosen, of 1 to 1023 bytes.
    package let credentialID: [UInt8]
    /// The key that verifies its signatures.
    package let publicKey: PasskeyPublicKey
    /// The signature counter, 0 for authenticators without one.
    package let signatureCount: UInt32
    /// The model of the authenticator by its own claim, 16 bytes; zeros when it does not tell.
    package let aaguid: [UInt8]
    /// The ways to reach the authenticator, such as `usb`, for later requests; from the browser, not signed.
    package let transports: [String]
    /// The statement that came with it.
    package let attestation: PasskeyAttestation
    /// Whether the user was verified.
    package let isUserVerified: Bool
    /// Whether the credential may be copied to other devices; this never changes.
    package let isBackupEligible: Bool
    /// Whether the credential has been copied.
    package let isBackedUp: Bool
}
