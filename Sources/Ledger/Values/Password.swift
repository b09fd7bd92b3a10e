/// A password as it was when it was checked.
package struct PasswordVersion: Hashable, Sendable {
    package let identity: IdentityID
    /// The position of the `PasswordSet`.
    package let version: LogPosition

    /// Describes a version.
    package init(identity: IdentityID, version: LogPosition) {
        self.identity = identity
        self.version = version
    }
}

/// The hash of a password that an identity gets.
package struct NewPassword: Hashable, Sendable, CustomStringConvertible {
    /// The text that is stored, encrypted.
    package let hash: String

    /// Describes a password.
    package init(hash: String) {
        self.hash = hash
    }

    /// The name of the type, without the hash.
    package var description: String { "NewPassword(redacted)" }
}
