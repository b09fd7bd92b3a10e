package import Ledger

extension InMemoryLedger: PasswordReader {
    /// Returns the password of the account that has an address.
    package func password(
        of names: [AddressName], in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword? {
        holder(of: names, in: tenant).flatMap { state, account, passwords in
            for (identity, version) in state.ledger.passwords
            where state.ledger.identities[identity]?.lastAccount == account {
                guard let password = passwords[identity] else { continue }
                return StoredPassword(
                    version: PasswordVersion(identity: identity, version: version),
                    hash: password.hash)
            }
            return nil
        }
    }

    /// Whether an account has an address.
    package func isHeld(
        _ names: [AddressName], in tenant: TenantID
    ) async throws(LedgerFault) -> Bool {
        holder(of: names, in: tenant) != nil
    }

    private func holder(
        of names: [AddressName], in tenant: TenantID
    ) -> (state: DecisionState, account: AccountID, passwords: [IdentityID: NewPassword])? {
        guard let (state, passwords) = passwords(of: tenant) else { return nil }
        let address = names.lazy.compactMap { state.addressNames[$0] }
            .compactMap { state.ledger.addresses[$0] }.first
        return address.map { (state, $0.account, passwords) }
    }
}
