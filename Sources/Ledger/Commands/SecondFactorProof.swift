/// The second step of a sign-in: the token of the first one, and the second factor.
package struct SecondFactorProof: Hashable, Sendable {
    /// The token; it completes one sign-in.
    package let token: SingleUseIDToken
    /// The account that refused the first step.
    package let account: AccountID
    /// Nil when the code was wrong.
    package let use: FactorUse?

    /// Describes a second step.
    package init(token: SingleUseIDToken, account: AccountID, use: FactorUse?) {
        self.token = token
        self.account = account
        self.use = use
    }
}

extension DecisionState {
    /// Returns the factor whose use an account accepts; nil for another account's, and for a code that was used.
    func factor(_ use: FactorUse, of account: AccountID) -> HeldFactor? {
        // The account's list has no factor that only a row of an undone merge gives it.
        guard let held = ledger.factors[use.factor], held.holder == account,
            !held.kind.isRequired
                || ledger.accounts[account]?.secondFactors.contains(held.id) == true
        else { return nil }
        let isUnused =
            switch held.kind {
            case .totp: use.counter > factorCounters[held.id] ?? .max
            // An authenticator that does not count always states zero.
            case .passkey:
                !use.comparesCounter || use.counter > factorCounters[held.id] ?? .max
                    || use.counter == 0 && factorCounters[held.id] == 0
            case .recoveryCodes: held.usedCodes & (1 << use.counter) == 0
            case .phone: use.challenge.map(openChallenges.contains) ?? false
            }
        return isUnused ? held : nil
    }

    /// Whether an account can be signed in to by one of some links, with one of some second factors if it has any:
    /// a phone does not follow a code that was sent to a phone, nor a passkey another one.
    func canSignIn(
        to links: [Account.Link], with factors: [FactorID], under policy: TenantPolicy
    ) -> Bool {
        let ways = waysToSignIn(links, policy)
        if ways.isEmpty || factors.isEmpty { return !ways.isEmpty }
        let kinds = factors.compactMap { ledger.factors[$0]?.kind }
        return ways.contains { way in
            let type = type(of: way.provider, under: policy)
            return kinds.contains { $0.mayFollow(type) }
        }
    }

    /// Whether an account can be signed in to by one of some links at a time: a phone number counts as in
    /// ``usableWays(_:with:at:under:)``.
    func canSignIn(
        to links: [Account.Link], with factors: [FactorID], at now: Timestamp?,
        under policy: TenantPolicy
    ) -> Bool {
        canSignIn(
            to: usableWays(links, with: factors, at: now, under: policy), with: factors,
            under: policy)
    }

    /// Whether a change by an account holder needs another sign-in first: the account has a second factor, and the
    /// session did not begin with one that was used a short time ago.
    func lacksSecondFactor(
        _ caller: Caller, at now: Timestamp, under policy: TenantPolicy
    ) -> Bool {
        guard ledger.accounts[caller.account]?.secondFactors.isEmpty == false else { return false }
        guard let session = ledger.sessions[caller.session] else { return true }
        return !session.methods.includesSecondFactor
            || !policy.isRecent(session.secondFactorUsedAt, at: now)
    }

    /// Returns the factors of an account and its recovery codes, in the order of their enrolment.
    func factors(of account: AccountID) -> [HeldFactor] {
        ledger.factors.values.filter { $0.holder == account }.sorted { $0.position < $1.position }
    }

    /// Returns those of some factors that are moved with an account: the required ones in the account's order, which is
    /// not that of their enrolment after a merge, then the recovery codes.
    func moved(_ held: [HeldFactor], with account: Account) -> [MergedFactor] {
        let required = account.secondFactors.compactMap { id in held.first { $0.id == id } }
        return (required + held.filter { !$0.kind.isRequired }).map(MergedFactor.init)
    }

    /// Returns the effects for factors that a merge or its undoing moves: planned removals end.
    func planEnds(_ moved: [MergedFactor]) -> [Decision.Effect] {
        moved.filter { ledger.factors[$0.id]?.removalDue != nil }.map { .factorChanged($0.id) }
    }

    /// Returns the sets of recovery codes of an account: its own and, since a merge, those of absorbed accounts.
    func recoveryCodes(of account: AccountID) -> [HeldFactor] {
        factors(of: account).filter { $0.kind == .recoveryCodes }
    }
}

extension SignIn {
    /// The result of the second step: the events and changes before the session, or a refusal.
    enum SecondStep {
        case passed(
            drafts: [Decision.Draft], effects: [Decision.Effect], methods: AuthenticationMethods)
        case refused(Decision)
    }

    /// Checks the second factor of an account; passed for one without factors.
    func secondStep(
        for account: Account, _ identity: IdentityID, in state: DecisionState, at now: Timestamp,
        under policy: TenantPolicy
    ) -> SecondStep {
        guard let secondFactor else {
            // A passkey that verified the person is more than one factor, and an issuer may have asked for one.
            return account.secondFactors.isEmpty || proof.methods.includesSecondFactor
                ? .passed(drafts: [], effects: [], methods: proof.methods)
                : .refused(.refused(.secondFactorRequired(account.id)))
        }
        guard secondFactor.account == account.id,
            state.spentIDTokens[secondFactor.token.digest] == nil
        else { return .refused(.refused(.invalidCode)) }
        guard let use = secondFactor.use, let factor = state.factor(use, of: account.id),
            factor.kind.mayFollow(proof.methods)
        else {
            return .refused(refuse(account, identity, in: state, at: now, under: policy))
        }
        let actor = Actor.account(account.id, session: newSession)
        var drafts: [Decision.Draft] = []
        var effects: [Decision.Effect] = [.idTokenSpent(secondFactor.token, now)]
        switch factor.kind {
        case .totp, .passkey: effects.append(.factorUsed(factor.id, use.counter))
        case .phone: effects += use.challenge.map { [.challengeSpent($0)] } ?? []
        case .recoveryCodes:
            let fact = RecoveryCodeUsed(account: account.id, code: use.counter, factor: factor.id)
            drafts.append(.init(.recoveryCodeUsed(fact), actor: actor))
            effects.append(.factorUsed(factor.id, factor.usedCodes | 1 << use.counter))
        }
        // A factor that is used is not lost.
        if factor.removalDue != nil {
            let fact = SecondFactorRemovalStopped(
                account: account.id, cause: .used, factor: factor.id)
            drafts.append(.init(.secondFactorRemovalStopped(fact), actor: actor))
            effects.append(.factorChanged(factor.id))
        }
        return .passed(
            drafts: drafts, effects: effects, methods: proof.methods.with(factor.kind))
    }

    /// Appends a refusal once in a budget's window, so that guesses don't make the log grow.
    private func refuse(
        _ account: Account, _ identity: IdentityID, in state: DecisionState, at now: Timestamp,
        under policy: TenantPolicy
    ) -> Decision {
        let attempt = DecisionState.Attempt(
            action: .secondFactor, provider: proof.subject.provider, digest: .zero,
            outcome: identity.description)
        let start = now.adding(seconds: -policy.linkBudget.windowSeconds)
        if account.secondFactors.isEmpty { return .refused(.invalidCode) }
        if let before = state.attempts[account.id]?[attempt], before > start {
            return .refused(.invalidCode)
        }
        let fact = SecondFactorRefused(
            account: account.id, identity: identity, provider: proof.subject.provider)
        return Decision(
            .failure(.invalidCode),
            drafts: [.init(.secondFactorRefused(fact), actor: .account(account.id, session: nil))],
            effects: [.attempted(account.id, attempt, now)])
    }
}
