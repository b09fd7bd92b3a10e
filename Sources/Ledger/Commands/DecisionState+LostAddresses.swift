/// An address that its account loses because another person has proved it: a claim that was proved without its
/// password, or a phone number that was not used for a long time.
struct LostAddress {
    let address: HeldAddress
    /// The address as it was proved.
    let proved: ProvedAddress
    /// The account that has the address.
    let account: Account
    /// Its links that end with the address.
    let links: [Account.Link]
    /// Whether the account is handed over with the address, since it can be signed in to with nothing else.
    let isHandedOver: Bool

    /// Returns the event by which the account loses a link.
    func unlink(_ link: Account.Link, by actor: Actor) -> Decision.Draft {
        let fact = ProviderUnlinked(
            account: account.id, identity: link.identity, provider: link.provider,
            cause: .addressLost)
        return .administered(.providerUnlinked(fact), by: actor)
    }
}

extension DecisionState {
    /// Returns the address that its account loses by a proof; nil for one that it keeps.
    func lostAddress(
        to proof: Proof, at now: Timestamp, under policy: TenantPolicy
    ) -> LostAddress? {
        guard let address = proof.address, proof.endsOtherClaims,
            case .held(let held, let account) = standing(of: address, at: now, under: policy)
        else { return nil }
        let users = identities(using: held, under: policy)
        let links = account.links.filter { users.contains($0.identity) }
        let rest = usableWays(
            account.links.filter { !users.contains($0.identity) }, with: account.secondFactors,
            at: nil, under: policy)
        // A passkey that verifies its user needs no second factor; whether it does is known at a sign-in alone.
        let hasOther =
            canSignIn(to: rest, with: account.secondFactors, under: policy)
            || rest.contains { type(of: $0.provider, under: policy) == .passkey }
        let isAll = !links.isEmpty && !hasOther
        guard held.isClaimed else {
            // Its former holder may be signed in and link another way, so the account keeps the link. A disabled
            // account can't use its number, and its holder opens no other one with it.
            return isAll && account.disabledPosition == nil
                && provesUnusedNumber(proof, of: account, at: now, under: policy)
                ? LostAddress(
                    address: held, proved: address, account: account, links: [],
                    isHandedOver: false) : nil
        }
        // A disabled account is not handed over: it loses the address, by which its identity was found.
        let isDisabled = account.disabledPosition != nil
        return LostAddress(
            address: held, proved: address, account: account,
            links: isAll && isDisabled ? [] : links,
            isHandedOver: isAll && !isDisabled)
    }

    /// Whether a proof is the code of a number that its account has not used for so long that another person may have
    /// it.
    ///
    /// False for an account with a second factor, which is asked for together with the code.
    func provesUnusedNumber(
        _ proof: Proof, of account: Account, at now: Timestamp, under policy: TenantPolicy
    ) -> Bool {
        guard account.secondFactors.isEmpty, proof.endsOtherClaims,
            let held = proof.address.flatMap({ holding($0.names) }), held.kind == .phone,
            held.isProved, let identity = identity(provedBy: proof)
        else { return false }
        return isUnused(identity, at: now, under: policy)
    }

    /// Whether the phone number of an identity was not used for so long that another person may have it.
    private func isUnused(
        _ identity: IdentityID, at now: Timestamp?, under policy: TenantPolicy
    ) -> Bool {
        guard let now, policy.phoneUnusedDays > 0, let used = identityUses[identity]
        else { return false }
        return used < now.adding(seconds: policy.phoneUnusedDays &* -86_400)
    }

    /// Returns those of some links of an account with some second factors by which it can be signed in to.
    ///
    /// Not by a phone number that it has lost, nor by one that was not used for a long time before `now`, unless a second
    /// factor is asked for with that: the account would be lost with the other links. A nil `now` counts every number
    /// that is not lost, for support: it can merge the account that the code of such a number opens.
    func usableWays(
        _ links: [Account.Link], with factors: [FactorID], at now: Timestamp?,
        under policy: TenantPolicy
    ) -> [Account.Link] {
        waysToSignIn(links, policy).filter { link in
            guard type(of: link.provider, under: policy) == .phone else { return true }
            return !lostNumbers.contains(link.identity)
                && (!factors.isEmpty || !isUnused(link.identity, at: now, under: policy))
        }
    }

    /// Returns the events by which an account keeps its other ways to sign in and loses an address.
    func ends(of lost: LostAddress, by actor: Actor) -> [Decision.Draft] {
        lost.links.map { lost.unlink($0, by: actor) } + [lost.address.release(by: actor)]
    }
}

extension SignIn {
    /// Hands an account over to the person who proved the address that is all it can be signed in to with.
    ///
    /// All that the former holder could sign in with ends, and the address and its identity are new, so that no undoing
    /// of an earlier merge gives the account back. The other addresses are released, since notices would go to them.
    func takeOver(
        _ lost: LostAddress, in state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let (account, address) = (lost.account, lost.proved)
        let actor = Actor.account(account.id, session: newSession)
        let linked = ProviderLinked(
            account: account.id, identity: newIdentity, provider: proof.subject.provider,
            cause: .link)
        let family = state.ledger.absorbed(by: account.id)
        let addresses = state.ledger.addresses.values.filter { family.contains($0.account) }
        let confirmed = AddressConfirmed(
            account: account.id, address: address.newID, kind: address.kind, cause: .proved)
        let password = proof.passwordSet(.link, of: newIdentity, for: account.id, by: actor)
        let removals = state.factors(of: account.id).map { factor in
            Decision.Draft.administered(
                .secondFactorRemoved(
                    SecondFactorRemoved(
                        account: account.id, cause: .addressLost, factor: factor.id,
                        kind: factor.kind)), by: actor)
        }
        let proofs: [Decision.Draft] = [
            .init(
                .providerLinked(linked), actor: actor,
                disclosures: [Disclosure(.providerID, proof.subject.providerID)])
        ]
        let confirmation = Decision.Draft(
            .addressConfirmed(confirmed), actor: actor,
            disclosures: [Disclosure(address.kind.disclosure, address.text)])
        return open(
            account: account.id, identity: newIdentity, providers: [proof.subject.provider],
            methods: proof.methods,
            before: proofs
                + addresses.sorted { $0.id < $1.id }.map { $0.release(by: actor) }
                + [confirmation] + password.drafts
                + account.links.map { lost.unlink($0, by: actor) } + removals,
            effects: proof.used + [.identityNamed(proof.subject, newIdentity)]
                + [.addressNamed(address.newName, address.newID)] + password.effects
                + [.challengesEnded(address.names), .challengesEndedOf(family)],
            isNewUser: false, at: now, under: policy)
    }
}
