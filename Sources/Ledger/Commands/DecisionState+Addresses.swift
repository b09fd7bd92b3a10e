/// The relation of a proved address to the accounts of a tenant.
enum AddressStanding {
    /// No account has it, or one that does not use it and gives it up.
    case free(formerHolder: HeldAddress?)
    /// An account has it.
    case held(HeldAddress, by: Account)
}

extension DecisionState {
    /// Returns the identity that a proof proves, linked or not; nil for one that was never linked.
    ///
    /// An address proves the provider's identity at the account that has the address.
    func identity(provedBy proof: Proof) -> IdentityID? {
        guard let address = proof.address else { return directory[proof.subject] }
        guard let held = holding(address) else { return nil }
        return account(of: held)?.links.first {
            $0.provider == proof.subject.provider
                && origin(of: $0.identity, at: ledger.root(of: held.account)) == held.account
        }?.identity
    }

    /// Returns the relation of an address to accounts.
    ///
    /// An account that is signed in to by no address of the kind gives it up to a person who proves it,
    /// unless undoing a merge may need it.
    func standing(of address: ProvedAddress, under policy: TenantPolicy) -> AddressStanding {
        guard let held = holding(address), let account = account(of: held) else {
            return .free(formerHolder: nil)
        }
        let isUnused =
            account.id == held.account && account.merges.isEmpty
            && !account.links.contains {
                type(of: $0.provider, under: policy)?.addressKind == address.kind
            }
        return isUnused ? .free(formerHolder: held) : .held(held, by: account)
    }

    /// Returns the events and the changes by which an account gets the address that a proof proves; none
    /// when it has the address, or the proof proves none.
    func confirmation(
        by proof: Proof, for account: AccountID, _ actor: Actor, under policy: TenantPolicy
    ) -> (drafts: [Decision.Draft], effects: [Decision.Effect]) {
        guard let address = proof.address,
            case .free(let former) = standing(of: address, under: policy),
            former?.account != account
        else { return ([], []) }
        var drafts: [Decision.Draft] = []
        if let former {
            let fact = AddressReleased(account: former.account, address: former.id, cause: .proved)
            drafts.append(.administered(.addressReleased(fact), by: actor))
        }
        let fact = AddressConfirmed(account: account, address: address.newID, kind: address.kind)
        drafts.append(
            .init(
                .addressConfirmed(fact), actor: actor,
                disclosures: [Disclosure(address.kind.disclosure, address.text)]))
        return (drafts, [.addressNamed(address.newName, address.newID)])
    }

    /// Whether a proof's challenge can still be used; true for a proof without one.
    func isOpen(_ proof: Proof) -> Bool {
        proof.challenge.map(openChallenges.contains) ?? true
    }

    /// Whether a password that was checked is still the one of its identity.
    func isCurrent(_ password: PasswordVersion) -> Bool {
        ledger.passwords[password.identity] == password.version
    }

    /// Returns the type of a provider, also after the rules have lost it.
    func type(of provider: ProviderName, under policy: TenantPolicy) -> ProviderType? {
        (policy.providers[provider] ?? ledger.rules?.formerProviders[provider])?.type
    }

    private func holding(_ address: ProvedAddress) -> HeldAddress? {
        address.names.lazy.compactMap { addressNames[$0] }.compactMap { ledger.addresses[$0] }.first
    }

    /// Returns the account that has an address now: the survivor of merges.
    private func account(of held: HeldAddress) -> Account? {
        ledger.accounts[ledger.root(of: held.account)]
    }

    /// Returns the account to which an identity was linked before merges moved it.
    private func origin(of identity: IdentityID, at account: AccountID) -> AccountID {
        let merge = ledger.accounts[account]?.merges.last { $0.moved.contains(identity) }
        return merge.map { origin(of: identity, at: $0.absorbed) } ?? account
    }
}
