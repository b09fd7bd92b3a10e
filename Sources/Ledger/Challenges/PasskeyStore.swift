/// Finds passkeys.
package protocol PasskeyStore: Sendable {
    /// Returns the stored text of the passkey that is an identity; nil when no account has it.
    func passkey(
        of subject: Subject, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword?

    /// Returns the stored texts of an account's passkeys at a provider.
    func passkeys(
        of account: AccountID, at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> [String]
}
