/// A stored password, found by an address.
package struct StoredPassword: Sendable {
    package let version: PasswordVersion
    /// The text of the hash.
    package let hash: String

    /// Describes a password.
    package init(version: PasswordVersion, hash: String) {
        self.version = version
        self.hash = hash
    }
}

/// Finds passwords by addresses.
package protocol PasswordReader: Sendable {
    /// Returns the password of the account that has an address; nil when no account has it, or one without a
    /// password.
    func password(
        of names: [AddressName], in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword?

    /// Whether an account has an address.
    func isHeld(_ names: [AddressName], in tenant: TenantID) async throws(LedgerFault) -> Bool
}
