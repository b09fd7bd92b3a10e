/// Finds passkeys.
package protocol PasskeyStore: Sendable {
    /// Returns the stored text of the passkey that is an identity, with its account; nil when none has it.
    func passkey(
        of subject: Subject, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword?

    /// Returns an account's passkeys at a provider.
    func passkeys(
        of account: AccountID, at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> [AccountPasskey]
}

/// A passkey of an account.
package struct AccountPasskey: Hashable, Sendable {
    /// The stored text.
    package let text: String
    /// Whether a merge brought it, whose undoing gives it back.
    package let isAbsorbed: Bool

    /// Describes a passkey.
    package init(text: String, isAbsorbed: Bool) {
        self.text = text
        self.isAbsorbed = isAbsorbed
    }
}
