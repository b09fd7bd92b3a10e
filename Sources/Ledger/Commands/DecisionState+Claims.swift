/// A claim that ends because another person has proved the address without the claim's password.
struct LostClaim {
    let address: HeldAddress
    /// The account that has the address.
    let account: Account
    /// Its links that use the address.
    let links: [Account.Link]
    /// Whether the account can be signed in to with nothing else: then it is handed over with the address.
    let isAll: Bool

    /// Returns the events by which the account keeps its other ways to sign in and loses the claim.
    func ends(by actor: Actor) -> [Decision.Draft] {
        links.map { link in
            .administered(
                .providerUnlinked(
                    ProviderUnlinked(
                        account: account.id, identity: link.identity, provider: link.provider,
                        cause: .addressLost)), by: actor)
        } + [
            .administered(
                .addressReleased(
                    AddressReleased(
                        account: address.account, address: address.id, cause: .proved)), by: actor)
        ]
    }
}

extension DecisionState {
    /// Returns the claim that ends by a proof of its address; nil when no account has claimed it, or the proof has the
    /// claim's password.
    func lostClaim(to proof: Proof, at now: Timestamp, under policy: TenantPolicy) -> LostClaim? {
        guard let address = proof.address, proof.provesAddress, proof.password == nil,
            case .held(let held, let account) = standing(of: address, at: now, under: policy),
            held.isClaimed
        else { return nil }
        let users = identities(using: held, under: policy)
        let lost = account.links.filter { users.contains($0.identity) }
        let rest = account.links.filter { !users.contains($0.identity) }
        return LostClaim(
            address: held, account: account, links: lost,
            isAll: !lost.isEmpty && !canSignIn(to: rest, with: account.secondFactors, under: policy)
        )
    }
}

extension SignIn {
    /// Hands an account over to the person who proved the address that is all it can be signed in to with: all that the
    /// former holder could sign in with ends.
    func takeOver(
        _ claim: LostClaim, in state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let account = claim.account
        guard account.disabledPosition == nil else { return .refused(.accountDisabled) }
        let actor = Actor.account(account.id, session: newSession)
        let subject = state.subject(claim.address, proof.subject.provider) ?? proof.subject
        let known = state.directory[subject]
        let identity = known ?? newIdentity
        let isLinked = account.links.contains { $0.identity == identity }
        var drafts: [Decision.Draft] = []
        if !isLinked {
            let fact = ProviderLinked(
                account: account.id, identity: identity, provider: subject.provider, cause: .link)
            drafts.append(
                .init(
                    .providerLinked(fact), actor: actor,
                    disclosures: [Disclosure(.providerID, subject.providerID)]))
        }
        let confirmation = state.confirmation(
            by: proof, for: account.id, actor, at: now, under: policy)
        let password = proof.passwordSet(
            isLinked ? .reset : .link, of: identity, for: account.id, by: actor)
        drafts += confirmation.drafts + password.drafts
        for link in account.links where link.identity != identity {
            let fact = ProviderUnlinked(
                account: account.id, identity: link.identity, provider: link.provider,
                cause: .addressLost)
            drafts.append(.administered(.providerUnlinked(fact), by: actor))
        }
        let factors = state.ledger.factors.values.filter { $0.account == account.id }
        for factor in factors.sorted(by: { $0.id < $1.id }) {
            let fact = SecondFactorRemoved(
                account: account.id, cause: .addressLost, factor: factor.id, kind: factor.kind)
            drafts.append(.administered(.secondFactorRemoved(fact), by: actor))
        }
        return open(
            account: account.id, identity: identity, providers: [subject.provider],
            methods: proof.methods, before: drafts,
            effects: proof.used + (known == nil ? [.identityNamed(subject, identity)] : [])
                + confirmation.effects + password.effects
                + [.challengesEndedOf(state.ledger.absorbed(by: account.id))],
            isNewUser: false, at: now, under: policy)
    }
}
