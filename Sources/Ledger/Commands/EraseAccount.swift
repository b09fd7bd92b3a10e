/// Destroys what is kept about the person of an account; what the log says of the account stays.
package struct EraseAccount: Sendable {
    /// Which accounts somebody has agreed to have erased.
    package enum Agreement: Sendable {
        /// None yet: the plan is to be shown.
        case preview
        /// The named account, if it is one with no other.
        case named
        /// Those of the plan with this digest.
        case plan(Digest, HashFunction)
        /// Whichever are one with the named account; for what decided that before, as a restore does.
        case family
    }

    package let account: AccountID
    package let basis: AccountErased.Basis
    package let agreement: Agreement
    package let actor: Actor

    /// Asks for an erasure or for its plan.
    package init(
        account: AccountID, basis: AccountErased.Basis, agreement: Agreement = .family,
        actor: Actor
    ) {
        self.account = account
        self.basis = basis
        self.agreement = agreement
        self.actor = actor
    }

    /// Erases every account that merges made one with the account, if that is what was agreed to.
    ///
    /// Of one that was erased already it says so, whatever was agreed to, and nothing is appended again.
    func decide(given state: DecisionState) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        if let position = known.erasedPosition {
            if case .preview = agreement { return .refused(.accountErased) }
            return Decision(.success(.erased(at: position, isNew: false, covering: [account])))
        }
        let plan = ErasurePlan(of: account, in: state.ledger)
        if case .preview = agreement {
            let losses = ErasureLosses(of: plan, in: state.ledger)
            return Decision(.success(.erasurePlanned(plan, losses)))
        }
        if let refusal = refusal(of: plan) { return .refused(refusal) }
        guard plan.holds.isEmpty else { return .refused(.legalHold) }
        let place = Int64(plan.covers.firstIndex(of: account) ?? 0)
        return Decision(
            .success(
                .erased(
                    at: LogPosition(state.ledger.nextPosition.value + place), isNew: true,
                    covering: plan.covers)),
            drafts: plan.covers.map {
                .administered(
                    .accountErased(
                        AccountErased(account: $0, basis: basis, survivor: plan.survivor)),
                    by: actor)
            },
            effects: plan.covers.map(Decision.Effect.forgotten))
    }

    /// Why a plan is not what was agreed to.
    private func refusal(of plan: ErasurePlan) -> Refusal? {
        switch agreement {
        case .preview, .family: nil
        case .plan(let agreed, let digest): agreed == digest(plan.bytes) ? nil : .erasurePlanChanged
        case .named:
            if plan.survivor != account {
                .accountMerged(into: plan.survivor)
            } else {
                plan.covers.count == 1 ? nil : .erasurePlanChanged
            }
        }
    }
}

extension LedgerState {
    /// The account that stands for an account: itself, unless it was merged into another one.
    func root(of account: AccountID) -> AccountID {
        var root = account
        while let survivor = accounts[root]?.mergedInto { root = survivor }
        return root
    }

    /// The accounts that an account stands for, each before the one that absorbed it, itself last.
    func absorbed(by account: AccountID) -> [AccountID] {
        (accounts[account]?.merges ?? []).flatMap { absorbed(by: $0.absorbed) } + [account]
    }

}
