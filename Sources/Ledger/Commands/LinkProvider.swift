/// Adds a proved identity to the caller's account.
package struct LinkProvider: Sendable {
    /// What checking the ID token gave, before the command was queued.
    package enum Credential: Sendable {
        /// The token proves this subject.
        case proved(ProviderIdentity, email: String?)
        /// The token proves nothing.
        case invalid
        /// The provider's keys could not be had.
        case unavailable
        /// The tenant has no such provider.
        case unsupported
    }

    package let caller: Caller
    package let provider: ProviderName
    package let credential: Credential
    /// SHA-256 of the ID token: the same token counts once against the budget.
    package let tokenDigest: Digest
    package let idempotency: IdempotencyKey?
    /// The name that a subject which was never linked gets.
    package let newIdentity: IdentityID

    /// Asks for a link.
    package init(
        caller: Caller, provider: ProviderName, credential: Credential, tokenDigest: Digest,
        idempotency: IdempotencyKey?, newIdentity: IdentityID
    ) {
        self.caller = caller
        self.provider = provider
        self.credential = credential
        self.tokenDigest = tokenDigest
        self.idempotency = idempotency
        self.newIdentity = newIdentity
    }

    /// Checks in the contract's order: session, key, provider, budget, ID token, decision.
    ///
    /// A key is looked up before the session, because the command that it answers may have ended it.
    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        if let earlier = earlierAnswer(to: idempotency, in: state) { return earlier }
        guard let account = state.account(of: caller, at: now) else {
            return .refused(.sessionEnded)
        }
        if case .unsupported = credential { return .refused(.unsupportedProvider) }
        let attempts = recentAttempts(in: state, at: now, under: policy.linkBudget)
        let previous = attempts[attemptKey]
        if previous == nil, attempts.count >= policy.linkBudget.limit,
            let earliest = attempts.values.map(\.attemptedAt).min()
        {
            return .refused(
                .rateLimited(
                    retryAfterSeconds: policy.linkBudget.secondsUntilFree(
                        since: earliest, at: now)))
        }
        switch credential {
        case .unsupported: return .refused(.unsupportedProvider)
        case .unavailable: return .refused(.providerUnavailable)
        case .invalid:
            let fact = LinkRejected(
                account: account.id, provider: provider, reason: .invalidIDToken)
            return refuse(
                .invalidProviderToken, .linkRejected(fact), as: fact.reason.rawValue,
                after: previous, at: now)
        case .proved(let identity, let email):
            return link(identity, email: email, to: account, in: state, policy, previous, now)
        }
    }

    private func link(
        _ identity: ProviderIdentity, email: String?, to account: Account, in state: DecisionState,
        _ policy: TenantPolicy, _ previous: DecisionState.Attempt?, _ now: Timestamp
    ) -> Decision {
        let known = state.directory[identity]
        let holder = known.flatMap { state.ledger.identities[$0]?.account }
        if let reason = conflict(holder: holder, account: account, policy: policy) {
            let fact = ConflictRejected(
                account: account.id, holder: reason == .heldByOther ? holder : nil,
                identity: known, provider: provider, reason: reason)
            let seen = [reason.rawValue, fact.holder?.description].compactMap(\.self)
            return refuse(
                .providerConflict(reason), .conflictRejected(fact),
                as: seen.joined(separator: ":"), after: previous, at: now)
        }
        let subject = known ?? newIdentity
        let fact = ProviderLinked(
            account: account.id, identity: subject, provider: provider, cause: .link)
        var disclosures = [Disclosure(.providerID, identity.providerID)]
        if let email { disclosures.append(Disclosure(.email, email)) }
        var providers = account.linkedProviders
        if !providers.contains(provider) { providers.append(provider) }
        var effects = [remember(refusal: nil, after: previous, at: now)]
        if known == nil { effects.append(.identityNamed(identity, subject)) }
        return Decision(
            .success(.linked(providers)),
            drafts: [.init(.providerLinked(fact), actor: actor, disclosures: disclosures)],
            effects: effects
        ).remembered(under: idempotency)
    }

    private func conflict(
        holder: AccountID?, account: Account, policy: TenantPolicy
    ) -> ConflictRejected.Reason? {
        if holder == account.id { return .alreadyYours }
        if holder != nil { return .heldByOther }
        let taken = account.links.contains { $0.provider == provider }
        return taken && !policy.severalPerProvider ? .providerTaken : nil
    }

    /// Appends a refusal, unless the very same token was refused the same way and came without a key.
    private func refuse(
        _ refusal: Refusal, _ event: Event, as reason: String,
        after previous: DecisionState.Attempt?, at now: Timestamp
    ) -> Decision {
        if previous?.refusal == reason { return .refused(refusal) }
        return Decision(
            .failure(refusal), drafts: [.init(event, actor: actor)],
            effects: [remember(refusal: reason, after: previous, at: now)]
        ).remembered(under: idempotency)
    }

    private func recentAttempts(
        in state: DecisionState, at now: Timestamp, under budget: Budget
    ) -> [DecisionState.Attempt.Key: DecisionState.Attempt] {
        let start = now.adding(seconds: -budget.windowSeconds)
        return (state.attempts[caller.account] ?? [:]).filter {
            $0.key.action == .link && $0.value.attemptedAt > start
        }
    }

    private func remember(
        refusal: String?, after previous: DecisionState.Attempt?, at now: Timestamp
    ) -> Decision.Effect {
        .attempted(
            caller.account,
            DecisionState.Attempt(
                key: attemptKey, attemptedAt: previous?.attemptedAt ?? now, refusal: refusal))
    }

    /// With a key, each key is an attempt of its own; without one, each token.
    private var attemptKey: DecisionState.Attempt.Key {
        DecisionState.Attempt.Key(
            action: .link, provider: provider, digest: idempotency?.scope.digest ?? tokenDigest)
    }

    private var actor: Actor { .account(caller.account, session: caller.session) }
}
