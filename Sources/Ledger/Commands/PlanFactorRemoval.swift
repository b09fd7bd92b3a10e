/// Plans the removal of a second factor that a person lost, for support, stops a planned one, or returns the plan.
///
/// The person has some hours to stop it, as support can be deceived, unless a second person does it at once.
package struct PlanFactorRemoval: Sendable {
    /// The requested step: the plan, its preview, or its stop.
    package typealias Change = SupportChange.Kind

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

    private let support: SupportChange
    package let factor: FactorID

    package var change: Change { support.kind }
    package var account: AccountID { support.account }

    /// Requests a change.
    package init(_ support: SupportChange, of factor: FactorID) {
        self.support = support
        self.factor = factor
    }

    /// Requests a change; `step` is the caller's part in a plan that a second person may do at once.
    package init(
        _ change: Change, of factor: FactorID, of account: AccountID, actor: Actor,
        reason: String = "", caseReference: String = "", step: TwoPersonStep = .alone
    ) {
        self.init(
            SupportChange(
                change, of: account, actor: actor, reason: reason, caseReference: caseReference,
                step: step), of: factor)
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        support.decide(given: state) { known throws(Refusal) in
            try decide(known, state, at: now, under: policy)
        }
    }

    private func decide(
        _ known: Account, _ state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) throws(Refusal) -> Decision {
        guard let held = state.ledger.factors[factor], held.holder == account,
            held.kind.isRequired
        else { throw .unknownFactor }
        let planned = held.removalDue
        let rest = known.secondFactors.filter {
            $0 != factor && state.ledger.factors[$0]?.removalDue == nil
        }
        func shown(due: Timestamp?, request: Digest? = nil) -> Plan {
            Plan(
                account: account, factor: factor, kind: held.kind, due: due,
                keepsFactor: !rest.isEmpty, request: request)
        }
        let effect = "remove factor \(factor) of account \(account)"
        if let asker = try support.asker(of: effect, due: planned, known, under: policy) {
            let removal = RemoveFactor(factor, by: .planned(account))
            guard removal.canRemove(from: known, state, policy) else {
                throw .factorRefused(.sameKind)
            }
            let removed = removal.removed(
                held, of: known, .support, .confirmed(asker: asker), state)
            return Decision(
                .success(.factorRemovalPlanned(shown(due: nil), nil)),
                drafts: removed.map { support.draft($0) })
        }
        // A plan that exists stays as it is: what remains is checked again when it is due.
        guard
            change == .stop || planned != nil || rest.isEmpty
                || state.canSignIn(to: known.links, with: rest, at: nil, under: policy)
        else { throw .factorRefused(.sameKind) }
        let due = planned ?? support.due(given: state, at: now, under: policy)
        let plan = shown(
            due: change == .stop ? nil : due,
            request: planned == nil ? support.request(of: effect, due: due, under: policy) : nil)
        let event = support.event(
            isPlanned: planned != nil,
            planned: .secondFactorRemovalPlanned(
                SecondFactorRemovalPlanned(
                    account: account, due: due, factor: factor, kind: held.kind)),
            stopped: .secondFactorRemovalStopped(
                SecondFactorRemovalStopped(account: account, cause: .support, factor: factor)))
        guard let event else {
            return Decision(
                .success(
                    change == .preview
                        ? .factorRemovalPreviewed(plan) : .factorRemovalUnchanged(plan)))
        }
        return Decision(
            .success(.factorRemovalPlanned(plan, nil)), drafts: [support.draft(event)],
            effects: [.factorChanged(factor)])
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
