/// Unlinks an identity from the caller's account and ends the sessions that it opened there.
package struct UnlinkProvider: Sendable {
    package let caller: Caller
    package let provider: ProviderName
    /// The identity to unlink, when the account has several of the provider.
    package let identity: IdentityID?
    package let idempotency: IdempotencyKey?

    /// Requests an unlink.
    package init(
        caller: Caller, provider: ProviderName, identity: IdentityID?,
        idempotency: IdempotencyKey?
    ) {
        self.caller = caller
        self.provider = provider
        self.identity = identity
        self.idempotency = idempotency
    }

    /// Checks in the contract's order: not linked, only provider, re-authentication.
    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        if let earlier = earlierAnswer(to: idempotency, in: state) { return earlier }
        guard let account = state.account(of: caller, at: now),
            let session = state.ledger.sessions[caller.session]
        else { return .refused(.sessionEnded) }
        let candidates = account.links.filter {
            $0.provider == provider && (identity == nil || $0.identity == identity)
        }
        guard let link = candidates.first else { return .refused(.providerNotLinked) }
        guard candidates.count == 1 else {
            return .refused(.identityNotNamed(candidates.map(\.identity)))
        }

        let rest = account.links.filter { $0.identity != link.identity }
        guard state.canSignIn(to: rest, with: account.secondFactors, at: now, under: policy) else {
            return refuse(.onlyProvider, link, .onlyProvider, in: state, at: now, policy)
        }
        guard policy.isRecent(session.authenticatedAt, at: now),
            !state.lacksSecondFactor(caller, at: now, under: policy)
        else {
            return refuse(
                .reauthenticationRequired, link, .reauthenticationRequired, in: state, at: now,
                policy)
        }
        var after = account
        after.links = rest
        let fact = ProviderUnlinked(
            account: account.id, identity: link.identity, provider: provider)
        return Decision(
            .success(.unlinked(after.linkedProviders)),
            drafts: [.init(.providerUnlinked(fact), actor: actor)]
        ).remembered(under: idempotency)
    }

    /// Appends a refusal once in a budget's window: unlinks have no attempt budget, so repeating a
    /// refused request must not make the log grow.
    private func refuse(
        _ refusal: Refusal, _ link: Account.Link, _ reason: UnlinkRejected.Reason,
        in state: DecisionState, at now: Timestamp, _ policy: TenantPolicy
    ) -> Decision {
        let attempt = DecisionState.Attempt(
            action: .unlink, provider: provider, digest: .zero,
            outcome: "\(reason.rawValue):\(link.identity)")
        let start = now.adding(seconds: -policy.linkBudget.windowSeconds)
        if let before = state.attempts[caller.account]?[attempt], before > start {
            return .refused(refusal)
        }
        let fact = UnlinkRejected(
            account: caller.account, identity: link.identity, provider: provider, reason: reason)
        return Decision(
            .failure(refusal), drafts: [.init(.unlinkRejected(fact), actor: actor)],
            effects: [.attempted(caller.account, attempt, now)]
        ).remembered(under: idempotency)
    }

    private var actor: Actor { .account(caller.account, session: caller.session) }
}

extension UnlinkProvider: LedgerRequest {
    package var intent: Command.Intent { .unlinkProvider(self) }

    /// Returns the account's providers in linking order.
    package static func success(in reply: Reply) -> [ProviderName]? {
        guard case .unlinked(let providers) = reply else { return nil }
        return providers
    }
}
