/// A stored password or the key of a passkey.
package struct StoredPassword: Sendable {
    package let version: PasswordVersion
    /// The text of the hash, or of the key.
    package let hash: String
    /// Whether its address is only claimed.
    package let isClaimed: Bool
    /// The account that has the identity; nil where it was not asked for.
    package let account: AccountID?

    /// Describes a password.
    package init(
        version: PasswordVersion, hash: String, isClaimed: Bool = false, account: AccountID? = nil
    ) {
        self.version = version
        self.hash = hash
        self.isClaimed = isClaimed
        self.account = account
    }
}

/// Finds passwords by addresses, and renews their hashes.
package protocol PasswordStore: Sendable {
    /// Returns the password with which an address signs in at a provider; nil when it signs in to no account.
    func password(
        of names: [AddressName], at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword?

    /// Whether an account is signed in to with an address that it has proved, at one of some providers.
    func isUsed(
        _ names: [AddressName], at providers: [ProviderName], in tenant: TenantID
    ) async throws(LedgerFault) -> Bool

    /// Whether an address is the former one of an account that is signed in to with another one at the provider, and
    /// can still be taken back.
    func canBeTakenBack(
        _ names: [AddressName], at provider: ProviderName, in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> Bool

    /// Replaces the hash of a password by another one of the same password, unless it has changed since it was
    /// read.
    ///
    /// The version stays, since the password is the same.
    func replace(
        _ stored: StoredPassword, by renewed: NewPassword, in tenant: TenantID
    ) async throws(LedgerFault)
}
