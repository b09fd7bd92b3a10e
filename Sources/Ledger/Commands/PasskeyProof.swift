/// The passkey of a proof: the key that was registered, or the key that was used.
package struct PasskeyProof: Hashable, Sendable {
    /// The key that the identity gets; of a registration.
    package let registered: NewPassword?
    /// The key that was used, as it was checked; of an assertion.
    package let version: PasswordVersion?
    /// The used key with its new counter and state of backup; nil if both are the same.
    package let renewed: NewPassword?
    /// Whether the counter must be above that of the last use, which a sign-in at the same time may have changed.
    package let comparesCounter: Bool

    /// Describes a registration.
    package init(registering key: NewPassword) {
        registered = key
        version = nil
        renewed = nil
        comparesCounter = true
    }

    /// Describes the use of a key.
    package init(
        using version: PasswordVersion, renewed: NewPassword?, comparesCounter: Bool = true
    ) {
        registered = nil
        self.version = version
        self.renewed = renewed
        self.comparesCounter = comparesCounter
    }
}
