/// Removes a second factor or the recovery codes of an account, or keeps one whose removal is planned.
///
/// The recovery codes go with the last factor.
package struct RemoveFactor: Sendable {
    /// The requester.
    package enum Authority: Hashable, Sendable {
        /// The account holder.
        case accountHolder(Caller)
        /// The account holder, who keeps the factor.
        case keptByHolder(Caller)
        /// Support, whose planned removal is due.
        case planned(AccountID)
    }

    package let authority: Authority
    package let factor: FactorID

    /// Requests a removal, or its stop.
    package init(_ factor: FactorID, by authority: Authority) {
        self.factor = factor
        self.authority = authority
    }

    /// The account that should have the factor.
    package var account: AccountID {
        switch authority {
        case .accountHolder(let caller), .keptByHolder(let caller): caller.account
        case .planned(let account): account
        }
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        switch authority {
        case .accountHolder(let caller):
            guard let account = state.account(of: caller, at: now) else {
                return .refused(.sessionEnded)
            }
            guard let held = held(state) else { return .refused(.unknownFactor) }
            guard !state.lacksSecondFactor(caller, at: now, under: policy) else {
                return .refused(.reauthenticationRequired)
            }
            guard canRemove(from: account, state, policy) else {
                return .refused(.factorRefused(.sameKind))
            }
            return remove(
                held, of: account, .holder, .account(account.id, session: caller.session), state)
        case .keptByHolder(let caller):
            guard let account = state.account(of: caller, at: now) else {
                return .refused(.sessionEnded)
            }
            guard let held = held(state), held.removalDue != nil else {
                return .refused(.unknownFactor)
            }
            let fact = SecondFactorRemovalStopped(
                account: account.id, cause: .holder, factor: factor)
            return Decision(
                .success(.factorRemoved),
                drafts: [
                    .init(
                        .secondFactorRemovalStopped(fact),
                        actor: .account(account.id, session: caller.session))
                ], effects: [.factorChanged(factor)])
        case .planned(let id):
            guard let account = state.ledger.accounts[id], account.mergedInto == nil,
                account.disabledPosition == nil,
                let held = held(state), let due = held.removalDue, due <= now
            else { return .refused(.unknownFactor) }
            guard canRemove(from: account, state, policy) else {
                let fact = SecondFactorRemovalStopped(
                    account: account.id, cause: .sameKind, factor: factor)
                return Decision(
                    .success(.factorKept),
                    drafts: [.administered(.secondFactorRemovalStopped(fact), by: .system)],
                    effects: [.factorChanged(factor)])
            }
            return remove(held, of: account, .support, .system, state)
        }
    }

    /// Whether the account can be signed in to with the factors that it keeps, if any.
    func canRemove(
        from account: Account, _ state: DecisionState, _ policy: TenantPolicy
    ) -> Bool {
        let rest = account.secondFactors.filter { $0 != factor }
        return rest.isEmpty
            || state.canSignIn(to: account.links, with: rest, at: nil, under: policy)
    }

    private func held(_ state: DecisionState) -> HeldFactor? {
        state.ledger.factors[factor].flatMap { $0.holder == account ? $0 : nil }
    }

    private func remove(
        _ held: HeldFactor, of account: Account, _ cause: SecondFactorRemoved.Cause,
        _ actor: Actor, _ state: DecisionState
    ) -> Decision {
        Decision(
            .success(.factorRemoved),
            drafts: removed(held, of: account, cause, .due, state).map {
                .init($0, actor: actor, disclosesRequest: cause == .holder)
            })
    }

    /// Returns the removal of the factor, and of the recovery codes if it is the last one.
    func removed(
        _ held: HeldFactor, of account: Account, _ cause: SecondFactorRemoved.Cause,
        _ effect: PlanEffect, _ state: DecisionState
    ) -> [Event] {
        let isLast = account.secondFactors == [factor]
        let codes = isLast ? state.recoveryCodes(of: account.id) : []
        return ([held] + codes).map { factor in
            .secondFactorRemoved(
                SecondFactorRemoved(
                    account: account.id, cause: cause, factor: factor.id, kind: factor.kind,
                    effect: effect))
        }
    }
}

extension RemoveFactor: LedgerRequest {
    package var intent: Command.Intent { .removeFactor(self) }

    /// Returns nothing for a reply that says that the factor was removed or kept.
    package static func success(in reply: Reply) -> Void? {
        reply == .factorRemoved || reply == .factorKept ? () : nil
    }
}
