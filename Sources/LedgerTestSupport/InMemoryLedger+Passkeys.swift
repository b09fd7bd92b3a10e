package import Ledger

extension InMemoryLedger: PasskeyStore {
    /// Returns the passkey that is an identity.
    package func passkey(
        of subject: Subject, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword? {
        guard let (state, passwords) = passwords(of: tenant),
            let identity = state.directory[subject],
            state.ledger.identities[identity]?.account != nil,
            let version = state.ledger.passwords[identity], let key = passwords[identity]
        else { return nil }
        return StoredPassword(
            version: PasswordVersion(identity: identity, version: version), hash: key.hash)
    }

    /// Returns the passkeys of an account at a provider.
    package func passkeys(
        of account: AccountID, at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> [String] {
        guard let (state, passwords) = passwords(of: tenant) else { return [] }
        return (state.ledger.accounts[account]?.links ?? [])
            .filter { $0.provider == provider }
            .compactMap { passwords[$0.identity]?.hash }
    }
}
