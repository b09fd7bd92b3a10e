/// Plans the removal of a second factor that a person lost, for support, stops a planned one, or returns the plan.
///
/// The person has some hours to stop it, as support can be deceived, unless a second person does it at once.
package struct PlanFactorRemoval: Sendable {
    /// The kind of a change.
    package enum Change: Hashable, Sendable {
        case plan
        case stop
        /// Nothing changes; the plan is returned.
        case preview
    }

    /// The planned removal of a factor.
    package struct Plan: Hashable, Sendable {
        package let account: AccountID
        package let factor: FactorID
        package let kind: FactorKind
        /// When it is removed; nil once it is stopped.
        package let due: Timestamp?
        /// Whether the account keeps another second factor, whose removal is not planned.
        package let keepsFactor: Bool
        /// The caller's request, for a second person to do it at once; nil if the rules have none.
        package var request: Digest?
    }

    package let change: Change
    package let account: AccountID
    package let factor: FactorID
    package let actor: Actor
    package let reason: String
    package let caseReference: String
    package let step: UnmergeAccounts.Step

    /// The agreement of two persons to a plan.
    private func confirmation(_ policy: TenantPolicy) -> SupportConfirmation {
        SupportConfirmation(
            effect: "remove factor \(factor) of account \(account)", actor: actor,
            step: step, policy: policy)
    }

    private var disclosures: [Disclosure] {
        [Disclosure(.caseReference, caseReference), Disclosure(.reason, reason)]
    }

    /// Requests a change; `step` is the caller's part in a plan that a second person may do at once.
    package init(
        _ change: Change, of factor: FactorID, of account: AccountID, actor: Actor,
        reason: String = "", caseReference: String = "", step: UnmergeAccounts.Step = .alone
    ) {
        self.change = change
        self.account = account
        self.factor = factor
        self.actor = actor
        self.reason = reason
        self.caseReference = caseReference
        self.step = step
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        guard known.erasedPosition == nil else { return .refused(.accountErased) }
        if let survivor = known.mergedInto { return .refused(.accountMerged(into: survivor)) }
        guard let held = state.ledger.factors[factor], held.account == account,
            held.kind.isRequired
        else { return .refused(.unknownFactor) }
        let rest = known.secondFactors.filter {
            $0 != factor && state.ledger.factors[$0]?.removalDue == nil
        }
        func plan(_ due: Timestamp?) -> Plan {
            Plan(
                account: account, factor: factor, kind: held.kind, due: due,
                keepsFactor: !rest.isEmpty,
                request: held.removalDue == nil
                    ? due.flatMap { confirmation(policy).request(due: $0) } : nil)
        }
        if case .confirm(let request, let hash) = step {
            let refusal = confirmation(policy).refusal(
                of: request, by: hash, due: held.removalDue, known)
            if let refusal { return .refused(refusal) }
            let removal = RemoveFactor(factor, by: .planned(account))
            guard removal.canRemove(from: known, state, policy) else {
                return .refused(.factorRefused(.sameKind))
            }
            let removed = removal.remove(
                held, of: known, .support, actor, state, disclosures: disclosures)
            return Decision(
                .success(.factorRemovalPlanned(plan(nil), nil)), drafts: removed.drafts)
        }
        // A plan that exists stays as it is: what remains is checked again when it is due.
        guard
            change == .stop || held.removalDue != nil || rest.isEmpty
                || state.canSignIn(to: known.links, with: rest, under: policy)
        else { return .refused(.factorRefused(.sameKind)) }
        // The event may be dated after the clock, if that was set back.
        let recordedAt = max(now, state.ledger.lastRecordedAt)
        let due = held.removalDue ?? policy.supportDue(after: recordedAt)
        let event: Event? =
            switch (change, held.removalDue) {
            case (.plan, nil):
                .secondFactorRemovalPlanned(
                    SecondFactorRemovalPlanned(
                        account: account, due: due, factor: factor, kind: held.kind))
            case (.stop, _?):
                .secondFactorRemovalStopped(
                    SecondFactorRemovalStopped(account: account, cause: .support, factor: factor))
            case (.plan, _?), (.stop, nil), (.preview, _): nil
            }
        guard let event else {
            let shown = change == .stop ? nil : due
            return Decision(
                .success(
                    change == .preview
                        ? .factorRemovalPreviewed(plan(shown))
                        : .factorRemovalUnchanged(plan(shown))))
        }
        return Decision(
            .success(.factorRemovalPlanned(plan(change == .plan ? due : nil), nil)),
            drafts: [
                .init(event, actor: actor, disclosures: disclosures, disclosesRequest: false)
            ], effects: [.factorChanged(factor)])
    }
}

extension PlanFactorRemoval: LedgerRequest {
    /// A change that has its effect.
    package struct Success: Hashable, Sendable {
        package let plan: Plan
        /// The event; nil when the removal was as requested already.
        package let event: EventID?
    }

    /// Requests the plan alone.
    package struct Preview: LedgerRequest {
        private let command: PlanFactorRemoval

        /// Requests the plan of a removal.
        package init(of factor: FactorID, of account: AccountID, actor: Actor) {
            command = PlanFactorRemoval(.preview, of: factor, of: account, actor: actor)
        }

        package var intent: Command.Intent { .planFactorRemoval(command) }

        /// Returns the plan in a reply to the preview.
        package static func success(in reply: Reply) -> Plan? {
            guard case .factorRemovalPreviewed(let plan) = reply else { return nil }
            return plan
        }
    }

    package var intent: Command.Intent { .planFactorRemoval(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        switch reply {
        case .factorRemovalPlanned(let plan, let event?): Success(plan: plan, event: event)
        case .factorRemovalUnchanged(let plan): Success(plan: plan, event: nil)
        default: nil
        }
    }
}
