/// A claim that ends because another person has proved the address without the claim's password.
struct LostClaim {
    let address: HeldAddress
    /// The address as it was proved.
    let proved: ProvedAddress
    /// The account that has the address.
    let account: Account
    /// Its links that use the address.
    let links: [Account.Link]
    /// Whether the account can be signed in to with nothing else: then it is handed over with the address.
    let isAll: Bool

    /// Returns the event by which the account loses a link.
    func unlink(_ link: Account.Link, by actor: Actor) -> Decision.Draft {
        let fact = ProviderUnlinked(
            account: account.id, identity: link.identity, provider: link.provider,
            cause: .addressLost)
        return .administered(.providerUnlinked(fact), by: actor)
    }
}

extension DecisionState {
    /// Returns the claim that ends by a proof of its address; nil when no account has claimed it, or the proof has the
    /// claim's password.
    func lostClaim(to proof: Proof, at now: Timestamp, under policy: TenantPolicy) -> LostClaim? {
        guard let address = proof.address, proof.endsOtherClaims,
            holding(address.names)?.isClaimed == true,
            case .held(let held, let account) = standing(of: address, at: now, under: policy)
        else { return nil }
        let users = identities(using: held, under: policy)
        let lost = account.links.filter { users.contains($0.identity) }
        let rest = account.links.filter { !users.contains($0.identity) }
        // A passkey that verifies its user needs no second factor; whether it does is known at a sign-in alone.
        let hasOther =
            canSignIn(to: rest, with: account.secondFactors, under: policy)
            || waysToSignIn(rest, policy).contains {
                type(of: $0.provider, under: policy) == .passkey
            }
        let isAll = !lost.isEmpty && !hasOther
        // A disabled account is not handed over: it loses the address, by which its identity was found.
        let isDisabled = account.disabledPosition != nil
        return LostClaim(
            address: held, proved: address, account: account,
            links: isAll && isDisabled ? [] : lost,
            isAll: isAll && !isDisabled)
    }

    /// Returns the events by which an account keeps its other ways to sign in and loses a claim.
    func ends(of claim: LostClaim, by actor: Actor) -> [Decision.Draft] {
        claim.links.map { claim.unlink($0, by: actor) } + [claim.address.release(by: actor)]
    }
}

extension SignIn {
    /// Hands an account over to the person who proved the address that is all it can be signed in to with.
    ///
    /// All that the former holder could sign in with ends, and the address and its identity are new, so that no undoing
    /// of an earlier merge gives the account back. The other addresses are released, since notices would go to them.
    func takeOver(
        _ claim: LostClaim, in state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let (account, address) = (claim.account, claim.proved)
        let actor = Actor.account(account.id, session: newSession)
        let linked = ProviderLinked(
            account: account.id, identity: newIdentity, provider: proof.subject.provider,
            cause: .link)
        let family = state.ledger.absorbed(by: account.id)
        let addresses = state.ledger.addresses.values.filter { family.contains($0.account) }
        let confirmed = AddressConfirmed(
            account: account.id, address: address.newID, kind: address.kind, cause: .proved)
        let password = proof.passwordSet(.link, of: newIdentity, for: account.id, by: actor)
        let factors = state.ledger.factors.values.filter { $0.account == account.id }
        let removals = factors.sorted { $0.id < $1.id }.map { factor in
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
                + account.links.map { claim.unlink($0, by: actor) } + removals,
            effects: proof.used + [.identityNamed(proof.subject, newIdentity)]
                + [.addressNamed(address.newName, address.newID)] + password.effects
                + [.challengesEnded(address.names), .challengesEndedOf(family)],
            isNewUser: false, at: now, under: policy)
    }
}
