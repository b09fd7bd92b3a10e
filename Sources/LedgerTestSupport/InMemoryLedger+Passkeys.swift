package import Ledger

extension InMemoryLedger: PasskeyStore {
    /// Returns the passkey that is an identity.
    package func passkey(
        of subject: Subject, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword? {
        guard let (state, passwords) = passwords(of: tenant),
            let identity = state.directory[subject],
            let account = state.ledger.identities[identity]?.account,
            let version = state.ledger.passwords[identity], let key = passwords[identity]
        else { return nil }
        return StoredPassword(
            version: PasswordVersion(identity: identity, version: version), hash: key.hash,
            account: account)
    }

    /// Returns the passkeys of an account at a provider.
    package func passkeys(
        of account: AccountID, at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> [AccountPasskey] {
        guard let (state, passwords) = passwords(of: tenant),
            let account = state.ledger.accounts[account]
        else { return [] }
        let absorbed = Set(account.merges.flatMap(\.moved))
        return account.links.filter { $0.provider == provider }.compactMap { link in
            passwords[link.identity].map {
                AccountPasskey(text: $0.hash, isAbsorbed: absorbed.contains(link.identity))
            }
        }
    }
}
