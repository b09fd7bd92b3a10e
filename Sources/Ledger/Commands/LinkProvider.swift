/// Links a proved subject to the caller's account.
package struct LinkProvider: Sendable {
    package let caller: Caller
    package let credential: Credential
    package let idempotency: IdempotencyKey?
    /// The id for an identity that was never linked.
    package let newIdentity: IdentityID

    /// Requests a link.
    package init(
        caller: Caller, credential: Credential, idempotency: IdempotencyKey?,
        newIdentity: IdentityID
    ) {
        self.caller = caller
        self.credential = credential
        self.idempotency = idempotency
        self.newIdentity = newIdentity
    }

    /// Checks in the contract's order: session, key, provider, budget, credential, decision.
    ///
    /// A key is looked up before the session, because its own command may have ended the session.
    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        if let earlier = earlierAnswer(to: idempotency, in: state) { return earlier }
        guard let account = state.account(of: caller, at: now) else {
            return .refused(.sessionEnded)
        }
        guard !state.lacksSecondFactor(caller, at: now, under: policy) else {
            return .refused(.reauthenticationRequired)
        }
        if case .failure(.unsupported) = credential.check { return .refused(.unsupportedProvider) }
        // An account is opened with an anonymous identity and never gets one later.
        if state.isAnonymous(provider, under: policy) { return .refused(.unsupportedProvider) }
        let budget = AttemptBudget(policy.linkBudget, of: caller.account, in: state, at: now)
        // A repeated credential is decided again: it may well have the same outcome, which counts
        // once.
        let digests = attemptDigest.all.map(\.digest)
        let isRepeated = budget.recent.keys.contains {
            $0.action == .link && $0.provider == provider && digests.contains($0.digest)
        }
        if !isRepeated, let limited = budget.exhausted { return .refused(limited) }
        switch credential.check {
        case .failure(.invalid):
            let fact = LinkRejected(
                account: account.id, provider: provider, reason: .invalidIDToken)
            return refuse(
                .invalidProviderToken, .linkRejected(fact), as: fact.reason.rawValue, budget)
        case .failure(let flaw): return .refused(flaw.refusal)
        case .success(let proof): return link(proof, to: account, in: state, policy, budget)
        }
    }

    private func link(
        _ proof: Proof, to account: Account, in state: DecisionState, _ policy: TenantPolicy,
        _ budget: AttemptBudget
    ) -> Decision {
        guard state.isCurrent(proof) else {
            return .refused(proof.staleRefusal)
        }
        if proof.isClaim {
            guard policy.confirmLater, let address = proof.address else {
                return .refused(.invalidCode)
            }
            // The address is not proved, so its holder is told nothing.
            if let held = state.holding(address.names),
                state.ledger.root(of: held.account) != account.id
            {
                return Decision(
                    .failure(.providerConflict(.heldByOther)),
                    effects: [remember(ConflictRejected.Reason.heldByOther.rawValue, budget)])
            }
        }
        // A claim that is all its account has is not lost by a link: the prover signs in to the account.
        let lost = state.lostAddress(to: proof, at: budget.now, under: policy)
            .flatMap { $0.isHandedOver || $0.account.id == account.id ? nil : $0 }
        let subject =
            lost == nil ? state.subject(of: proof, at: budget.now, under: policy) : proof.subject
        let known = state.directory[subject]
        let holder = known.flatMap { state.ledger.identities[$0]?.account }
        // The id of a passkey proves nothing: its holder alone can use the key.
        if proof.passkey?.registered != nil, let holder, holder != account.id {
            return .refused(proof.staleRefusal)
        }
        // A key is not both; it may have become a second factor since the response was checked.
        if proof.passkey?.registered != nil,
            account.secondFactors.contains(where: {
                state.factorKeys[$0]?.providerID == subject.providerID
            })
        {
            return .refused(proof.staleRefusal)
        }
        // An address that another account uses otherwise, or may need again.
        if holder == nil, lost == nil, let address = proof.address,
            case .held(let held, let keeper) = state.standing(
                of: address, at: budget.now, under: policy)
        {
            if keeper.id != account.id {
                let users = state.identities(using: held, under: policy)
                // A claim can be lost without an unlink, and an identity that a merge left behind has no holder.
                guard held.isProved,
                    let user = keeper.links.first(where: { users.contains($0.identity) })
                else { return .refused(.providerConflict(.heldByOther)) }
                return refuse(.heldByOther, user.identity, of: keeper.id, account, budget)
            }
            if held.formerOf != nil { return .refused(.providerConflict(.alreadyYours)) }
        }
        if holder == account.id,
            state.provesUnusedNumber(proof, of: account, at: budget.now, under: policy)
        {
            return confirmAgain(proof, of: account, in: state, policy, budget)
        }
        // The link of a number that another person has by now opens nothing, and ends with the link of another number.
        let lostLinks = account.links.filter {
            proof.address?.kind == .phone && $0.provider == provider
                && state.lostNumbers.contains($0.identity)
        }
        let keptLinks = account.links.filter { !lostLinks.contains($0) }
        if let reason = conflict(proof, holder: holder, account: account, keptLinks, policy) {
            return refuse(
                reason, known, of: reason == .heldByOther ? holder : nil, account, budget)
        }
        if let limited = budget.exhausted { return .refused(limited) }
        let identity = known ?? newIdentity
        let fact = ProviderLinked(
            account: account.id, identity: identity, provider: provider, cause: .link)
        // A claim of an address that the account has proved leaves it proved.
        let isProved =
            proof.isClaim && proof.address.flatMap { state.holding($0.names) }?.isProved == true
        let email = proof.email.map { isProved ? Email($0.address, isVerified: true) : $0 }
        let disclosures =
            [Disclosure(.providerID, subject.providerID)] + (email?.disclosures ?? [])
        let upgraded = keptLinks.filter { state.isAnonymous($0.provider, under: policy) }
        var providers = keptLinks.filter { !upgraded.contains($0) }.providers
        if !providers.contains(provider) { providers.append(provider) }
        var effects = [remember("accepted:\(budget.now)", budget)]
        if known == nil { effects.append(.identityNamed(subject, identity)) }
        let confirmation = state.confirmation(
            by: proof, for: account.id, actor, at: budget.now, under: policy)
        let password = proof.passwordSet(.link, of: identity, for: account.id, by: actor)
        effects += proof.used + confirmation.effects + password.effects
        var unlinks = upgraded.map { unlink($0, for: identity, proof, in: state, at: budget.now) }
        unlinks += lostLinks.map { unlink($0) }
        return Decision(
            .success(.linked(providers)),
            drafts: [.init(.providerLinked(fact), actor: actor, disclosures: disclosures)]
                + confirmation.drafts + password.drafts + unlinks,
            effects: effects
        ).remembered(under: idempotency)
    }

    /// Confirms a number that the account has not used for a long time.
    private func confirmAgain(
        _ proof: Proof, of account: Account, in state: DecisionState, _ policy: TenantPolicy,
        _ budget: AttemptBudget
    ) -> Decision {
        if let limited = budget.exhausted { return .refused(limited) }
        let confirmation = state.confirmation(
            by: proof, for: account.id, actor, at: budget.now, under: policy)
        return Decision(
            .success(.linked(account.linkedProviders)), drafts: confirmation.drafts,
            effects: [remember("accepted:\(budget.now)", budget)] + proof.used
                + confirmation.effects
        ).remembered(under: idempotency)
    }

    /// Ends the link of a lost number, and the sessions that it opened.
    private func unlink(_ link: Account.Link) -> Decision.Draft {
        let fact = ProviderUnlinked(
            account: caller.account, identity: link.identity, provider: link.provider)
        return .init(.providerUnlinked(fact), actor: actor)
    }

    /// Ends an anonymous identity, which is there only until the account has another one.
    private func unlink(
        _ link: Account.Link, for successor: IdentityID, _ proof: Proof, in state: DecisionState,
        at now: Timestamp
    ) -> Decision.Draft {
        let isOpener = state.ledger.sessions[caller.session]?.identity == link.identity
        let upgrade = ProviderUnlinked.Upgrade(
            successor: successor, session: isOpener ? caller.session : nil,
            authenticatedAt: Timestamp(seconds: min(proof.authenticatedAt, now).seconds),
            methods: proof.methods)
        let fact = ProviderUnlinked(
            account: caller.account, identity: link.identity, provider: link.provider,
            cause: .upgraded(upgrade))
        return .init(.providerUnlinked(fact), actor: actor)
    }

    private func conflict(
        _ proof: Proof, holder: AccountID?, account: Account, _ links: [Account.Link],
        _ policy: TenantPolicy
    ) -> ConflictRejected.Reason? {
        if holder == account.id { return .alreadyYours }
        if holder != nil { return .heldByOther }
        let taken = links.contains { $0.provider == provider }
        let isSingle = proof.passkey == nil && !(policy.severalPerProvider && proof.address == nil)
        return taken && isSingle ? .providerTaken : nil
    }

    /// Appends the refusal of an identity because of existing links.
    private func refuse(
        _ reason: ConflictRejected.Reason, _ identity: IdentityID?, of holder: AccountID?,
        _ account: Account, _ budget: AttemptBudget
    ) -> Decision {
        let fact = ConflictRejected(
            account: account.id, holder: holder, identity: identity, provider: provider,
            reason: reason)
        let outcome = [reason.rawValue, holder?.description].compactMap(\.self)
        return refuse(
            .providerConflict(reason), .conflictRejected(fact),
            as: outcome.joined(separator: ":"), budget)
    }

    /// Appends a refusal, unless the very same credential was refused the same way before.
    private func refuse(
        _ refusal: Refusal, _ event: Event, as outcome: String, _ budget: AttemptBudget
    ) -> Decision {
        if attemptDigest.all.contains(where: { budget.recent[attempt(outcome, $0)] != nil }) {
            return .refused(refusal)
        }
        if let limited = budget.exhausted { return .refused(limited) }
        return Decision(
            .failure(refusal), drafts: [.init(event, actor: actor)],
            effects: [remember(outcome, budget)]
        ).remembered(under: idempotency)
    }

    private func remember(_ outcome: String, _ budget: AttemptBudget) -> Decision.Effect {
        .attempted(caller.account, attempt(outcome, attemptDigest), budget.now)
    }

    private func attempt(_ outcome: String, _ digest: KeyedDigest) -> DecisionState.Attempt {
        DecisionState.Attempt(
            action: .link, provider: provider, digest: digest.digest, key: digest.key,
            outcome: outcome)
    }

    private var provider: ProviderName { credential.provider }

    /// With a key, each key is an attempt of its own; without one, each credential.
    private var attemptDigest: KeyedDigest { idempotency?.attempt ?? credential.digest }

    private var actor: Actor { .account(caller.account, session: caller.session) }
}

extension LinkProvider: LedgerRequest {
    package var intent: Command.Intent { .linkProvider(self) }

    /// Returns the account's providers in linking order.
    package static func success(in reply: Reply) -> [ProviderName]? {
        guard case .linked(let providers) = reply else { return nil }
        return providers
    }
}
