/// The stored facts of a credential that an assertion is verified with.
package struct StoredPasskey: Hashable, Sendable {
    /// The id of the credential.
    package let credentialID: [UInt8]
    /// The registered key.
    package let publicKey: PasskeyPublicKey
    /// The counter of the last use.
    package let signatureCount: UInt32
    /// Whether the credential was registered as one that may be copied.
    package let isBackupEligible: Bool
    /// The handle of the user whom it was registered for.
    package let userHandle: [UInt8]

    /// Gathers the facts.
    package init(
        credentialID: [UInt8], publicKey: PasskeyPublicKey, signatureCount: UInt32,
        isBackupEligible: Bool, userHandle: [UInt8]
    ) {
        self.credentialID = credentialID
        self.publicKey = publicKey
        self.signatureCount = signatureCount
        self.isBackupEligible = isBackupEligible
        self.userHandle = userHandle
    }
}

/// The facts of a verified assertion.
package struct PasskeyUse: Hashable, Sendable {
    /// The counter to store, also when it went back.
    package let signatureCount: UInt32
    /// Whether the counter is not above the stored one; never for authenticators without a counter.
    package let hasCounterGoneBack: Bool
    /// Whether the user was verified.
    package let isUserVerified: Bool
    /// Whether the credential has been copied to other devices.
    package let isBackedUp: Bool
}
