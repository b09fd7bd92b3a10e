/// A passkey that answered a challenge, as it is beside the identity that it proves.
package struct PasskeyProof: Hashable, Sendable {
    /// The challenge; each is answered once.
    package let challenge: SingleUseIDToken
    /// The key that the identity gets: of a registration. The text that is stored, encrypted.
    package let registered: NewPassword?
    /// The key that was used, as it was checked: of an assertion.
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

extension NewPassword {
    /// Describes the key of a passkey with its counter.
    ///
    /// The stored text begins with the counter, which no text of a password's hash does.
    package init(passkey text: String, count: UInt32) {
        self.init(hash: "\(count) \(text)")
    }

    /// The counter of a passkey; nil for a password.
    package var passkeyCount: UInt32? { Self.passkey(hash)?.count }

    /// Reads a stored text; nil for that of a password.
    package static func passkey(_ stored: String) -> (count: UInt32, text: Substring)? {
        let parts = stored.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let count = UInt32(parts[0]) else { return nil }
        return (count, parts[1])
    }
}
