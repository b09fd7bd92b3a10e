package import Ledger

extension InMemoryLedger: PasswordStore {
    /// Returns the password with which an address signs in at a provider.
    package func password(
        of names: [AddressName], at provider: ProviderName, in tenant: TenantID
    ) async throws(LedgerFault) -> StoredPassword? {
        guard let (state, passwords) = passwords(of: tenant),
            let identity = identity(names, provider, state),
            let version = state.ledger.passwords[identity], let password = passwords[identity]
        else { return nil }
        return StoredPassword(
            version: PasswordVersion(identity: identity, version: version), hash: password.hash,
            isClaimed: state.holding(names)?.isClaimed == true)
    }

    /// Whether an account is signed in to with an address, at one of some providers.
    package func isUsed(
        _ names: [AddressName], at providers: [ProviderName], in tenant: TenantID
    ) async throws(LedgerFault) -> Bool {
        guard let (state, _) = passwords(of: tenant),
            state.holding(names)?.isClaimed == false
        else { return false }
        return providers.contains { identity(names, $0, state) != nil }
    }

    /// Whether an address was replaced and can still be taken back.
    package func canBeTakenBack(
        _ names: [AddressName], at provider: ProviderName, in tenant: TenantID, at now: Timestamp
    ) async throws(LedgerFault) -> Bool {
        guard let (state, _) = passwords(of: tenant),
            let former = names.lazy.compactMap({ state.addressNames[$0] }).first
                .flatMap({ state.ledger.addresses[$0] }),
            let present = former.formerOf, former.keptUntil.map({ now < $0 }) ?? false,
            let subject = Subject(provider: provider, providerID: present.description)
        else { return false }
        return state.directory[subject].flatMap { state.ledger.identities[$0]?.account } != nil
    }

    /// Returns the accounts that have an address, or had it last, and how a search finds them.
    func holders(
        of names: [AddressName], in tenant: TenantID
    ) -> [(account: AccountID, match: SearchMatch)] {
        guard let (state, _) = passwords(of: tenant),
            let held = state.holding(names)
        else { return [] }
        let subject = (held.formerOf ?? held.id).description
        return state.directory.compactMap { found, id in
            guard found.providerID == subject, let identity = state.ledger.identities[id] else {
                return nil
            }
            let isFormer = held.formerOf != nil || identity.account == nil
            return (
                account: identity.account ?? identity.lastAccount,
                match: isFormer ? .formerPhone : .phone
            )
        }
    }

    /// Replaces the hash of a password, unless it has changed.
    package func replace(
        _ stored: StoredPassword, by renewed: NewPassword, in tenant: TenantID
    ) async throws(LedgerFault) {
        replacePassword(of: stored.version.identity, stored.hash, by: renewed, in: tenant)
    }

    private func identity(
        _ names: [AddressName], _ provider: ProviderName, _ state: DecisionState
    ) -> IdentityID? {
        let address = names.lazy.compactMap { state.addressNames[$0] }.first
        return address.flatMap { Subject(provider: provider, providerID: $0.description) }
            .flatMap { state.directory[$0] }
            .flatMap { state.ledger.identities[$0]?.account == nil ? nil : $0 }
    }
}
