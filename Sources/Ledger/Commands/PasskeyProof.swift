/// A passkey that answered a challenge, as it is beside the identity that it proves.
package struct PasskeyProof: Hashable, Sendable {
    /// The challenge; each is answered once.
    package let challenge: SingleUseIDToken
    /// The key that the identity gets; of a registration.
    package let registered: NewPassword?
    /// The key that was used, as it was checked; of an assertion.
    package let version: PasswordVersion?
    /// The used key with its new counter; nil for a key that does not count.
    package let renewed: NewPassword?

    /// Describes a registration.
    package init(registering key: NewPassword, challenge: SingleUseIDToken) {
        self.challenge = challenge
        registered = key
        version = nil
        renewed = nil
    }

    /// Describes the use of a key.
    package init(
        using version: PasswordVersion, renewed: NewPassword?, challenge: SingleUseIDToken
    ) {
        self.challenge = challenge
        registered = nil
        self.version = version
        self.renewed = renewed
    }
}
