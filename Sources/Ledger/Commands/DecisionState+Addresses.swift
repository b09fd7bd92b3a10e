/// The relation of a proved address to the accounts of a tenant.
enum AddressStanding {
    /// No account has it, or one that does not use it and gives it up.
    case free(formerHolder: HeldAddress?)
    /// An account has it.
    case held(HeldAddress, by: Account)
}

extension DecisionState {
    /// Returns the identity that a proof proves, linked or not; nil for one that was never linked.
    func identity(provedBy proof: Proof) -> IdentityID? {
        // A claim proves no identity.
        if proof.isClaim { return nil }
        guard let address = proof.address else { return directory[proof.subject] }
        return holding(address.names).flatMap { subject($0, proof.subject.provider) }
            .flatMap { directory[$0] }
    }

    /// Returns the subject of a proof: that of an address is the id that the address has at its account.
    func subject(
        of proof: Proof, at now: Timestamp, under policy: TenantPolicy
    ) -> Subject {
        guard let address = proof.address else { return proof.subject }
        var held = proof.isClaim ? holding(address.names).flatMap { $0.isProved ? $0 : nil } : nil
        if case .held(let used, _) = standing(of: address, at: now, under: policy) { held = used }
        return held.flatMap { subject($0, proof.subject.provider) } ?? proof.subject
    }

    /// Returns the relation of an address to accounts.
    ///
    /// An account in which no identity uses the address gives it up to a person who proves it, unless the
    /// undoing of a merge gives back an identity that does. A former address is given up once it can't be taken back.
    func standing(
        of address: ProvedAddress, at now: Timestamp, under policy: TenantPolicy
    ) -> AddressStanding {
        guard let held = holding(address.names),
            let account = ledger.accounts[ledger.root(of: held.account)]
        else { return .free(formerHolder: nil) }
        if held.formerOf != nil {
            return held.isKept(at: now) ? .held(held, by: account) : .free(formerHolder: held)
        }
        let users = identities(using: held, under: policy)
        let isUsed =
            account.links.contains { users.contains($0.identity) }
            || ledger.accounts.values.contains { merged in
                merged.merges.contains { merge in
                    (merge.dropped + merge.replaced).contains { users.contains($0) }
                }
            }
        return isUsed ? .held(held, by: account) : .free(formerHolder: held)
    }

    /// Returns the events and the changes by which an account gets the address that a proof proves or claims; empty
    /// if the account has the address, or for a proof without an address.
    func confirmation(
        by proof: Proof, for account: AccountID, _ actor: Actor,
        cause: AddressConfirmed.Cause = .proved, at now: Timestamp, under policy: TenantPolicy
    ) -> (drafts: [Decision.Draft], effects: [Decision.Effect]) {
        guard let address = proof.address else { return ([], []) }
        var drafts: [Decision.Draft] = []
        var (id, holder) = (address.newID, account)
        var effects: [Decision.Effect] = []
        switch standing(of: address, at: now, under: policy) {
        // A claim of an own address that was proved leaves it proved.
        case .free(let former?) where proof.isClaim && former.isProved: return ([], [])
        case .free(let former): drafts = former.map { [$0.release(by: actor)] } ?? []
        case .held(let held, let keeper)
        where keeper.id == account
            && (held.isClaimed && proof.provesAddress
                || provesUnusedNumber(proof, of: keeper, at: now, under: policy)):
            (id, holder) = (held.id, held.account)
        case .held:
            guard let lost = lostAddress(to: proof, at: now, under: policy) else { return ([], []) }
            drafts = ends(of: lost, by: actor)
            effects = [.challengesEnded(address.names)]
        }
        let event: Event =
            proof.isClaim
            ? .addressClaimed(AddressClaimed(account: holder, address: id, kind: address.kind))
            : .addressConfirmed(
                AddressConfirmed(account: holder, address: id, kind: address.kind, cause: cause))
        drafts.append(
            .init(
                event, actor: actor,
                disclosures: [Disclosure(address.kind.disclosure, address.text)]))
        return (drafts, effects + [.addressNamed(address.newName, id)])
    }

    /// Whether a proof's challenge can still be used, and its password or key is still the one of its identity;
    /// true for a proof without them.
    func isCurrent(_ proof: Proof) -> Bool {
        guard proof.challenge.map(openChallenges.contains) ?? true,
            proof.usedUp.map({ spentIDTokens[$0.digest] == nil }) ?? true
        else { return false }
        if let passkey = proof.passkey {
            guard let version = passkey.version else { return true }
            let count = passkeyCounts[version.identity] ?? 0
            // A use that was checked before another one has the counter of the time before that.
            let isLater =
                !passkey.comparesCounter || (passkey.renewed?.passkeyCount ?? 0) > count
                || count == 0
            return isLater && version.identity == identity(provedBy: proof) && isCurrent(version)
        }
        guard let password = proof.password else { return true }
        return password.identity == identity(provedBy: proof) && isCurrent(password)
    }

    /// Whether a password that was checked is still the one of its identity.
    func isCurrent(_ password: PasswordVersion) -> Bool {
        ledger.passwords[password.identity] == password.version
    }

    /// Returns the type of a provider, also after the rules have lost it.
    func type(of provider: ProviderName, under policy: TenantPolicy) -> ProviderType? {
        (policy.providers[provider] ?? ledger.rules?.formerProviders[provider])?.type
    }

    /// Returns the holder of an address.
    package func holding(_ names: [AddressName]) -> HeldAddress? {
        names.lazy.compactMap { addressNames[$0] }.compactMap { ledger.addresses[$0] }.first
    }

    /// Returns the linked identity of an account that has a password with an address.
    func passwordIdentity(
        at held: HeldAddress, of account: Account, under policy: TenantPolicy
    ) -> IdentityID? {
        account.links.first { link in
            policy.providers[link.provider]?.type == .password
                && subject(held, link.provider).flatMap { directory[$0] } == link.identity
        }?.identity
    }

    /// Returns the name of an address, if it is one of these.
    func name(of held: HeldAddress, among names: [AddressName]) -> AddressName? {
        names.first { addressNames[$0] == held.id }
    }

    /// Returns the identities, linked or not, whose subject is an address.
    func identities(
        using held: HeldAddress, under policy: TenantPolicy
    ) -> Set<IdentityID> {
        let providers = Set(policy.providers.keys)
            .union(ledger.rules.map { Set($0.formerProviders.keys) } ?? [])
            .filter { type(of: $0, under: policy)?.addressKind == held.kind }
        return Set(providers.compactMap { subject(held, $0) }.compactMap { directory[$0] })
    }

    /// Returns the subjects' ids of those of some links that use addresses: one for each address.
    func addressSubjects(
        of links: [Account.Link], under policy: TenantPolicy
    ) -> Set<String> {
        let identities = Set(links.map(\.identity))
        let users = directory.filter { subject, identity in
            identities.contains(identity)
                && type(of: subject.provider, under: policy)?.addressKind != nil
        }
        return Set(users.map(\.key.providerID))
    }

    /// Returns the subject of the identities that use an address.
    func subject(_ held: HeldAddress, _ provider: ProviderName) -> Subject? {
        Subject(provider: provider, providerID: held.id.description)
    }
}

extension HeldAddress {
    /// Returns the event by which the account gives the address up to another person.
    func release(by actor: Actor) -> Decision.Draft {
        let fact = AddressReleased(account: account, address: id, cause: .proved)
        return .administered(.addressReleased(fact), by: actor)
    }
}
