/// Plans the unlink of an identity for the account holder, for support, stops a planned one, or returns the plan.
///
/// The person has some hours to stop it, as support can be deceived, unless a second person does it at once.
package struct PlanUnlink: Sendable {
    /// The requested step: the plan, its preview, or its stop.
    package typealias Change = SupportChange.Kind

    /// The planned unlink of an identity.
    package struct Plan: Hashable, Sendable {
        package let account: AccountID
        package let identity: IdentityID
        package let provider: ProviderName
        /// When it is unlinked; nil once that is stopped.
        package let due: Timestamp?
        /// The providers of the account once all its planned unlinks have happened, in linking order.
        package let linkedProviders: [ProviderName]
        /// The caller's request, for a second person to do it at once; nil if the rules have none.
        package var request: Digest?
    }

    private let support: SupportChange
    package let identity: IdentityID

    package var change: Change { support.kind }
    package var account: AccountID { support.account }

    /// Requests a change.
    package init(_ support: SupportChange, of identity: IdentityID) {
        self.support = support
        self.identity = identity
    }

    /// Requests a change; `step` is the caller's part in a plan that a second person may do at once.
    package init(
        _ change: Change, of identity: IdentityID, of account: AccountID, actor: Actor,
        reason: String = "", caseReference: String = "", step: TwoPersonStep = .alone
    ) {
        self.init(
            SupportChange(
                change, of: account, actor: actor, reason: reason, caseReference: caseReference,
                step: step), of: identity)
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
        guard let link = known.links.first(where: { $0.identity == identity }) else {
            throw .providerNotLinked
        }
        let planned = state.ledger.identities[identity]?.unlinkDue
        let rest = known.links.filter { other in
            other.identity == identity
                ? change == .stop : state.ledger.identities[other.identity]?.unlinkDue == nil
        }
        func shown(due: Timestamp?, request: Digest? = nil) -> Plan {
            Plan(
                account: account, identity: identity, provider: link.provider, due: due,
                linkedProviders: rest.providers, request: request)
        }
        let effect = "unlink identity \(identity) from account \(account)"
        if let asker = try support.asker(of: effect, due: planned, known, under: policy) {
            let others = known.links.filter { $0.identity != identity }
            guard state.canSignIn(to: others, with: known.secondFactors, at: nil, under: policy)
            else { throw .onlyProvider }
            let fact = ProviderUnlinked(
                account: account, identity: identity, provider: link.provider, cause: .support,
                effect: .confirmed(asker: asker))
            return Decision(
                .success(.unlinkPlanned(shown(due: nil), nil)),
                drafts: [support.draft(.providerUnlinked(fact))])
        }
        // A plan that exists stays as it is: the rules may have changed since.
        guard
            change == .stop || planned != nil
                || state.canSignIn(to: rest, with: known.secondFactors, at: nil, under: policy)
        else { throw .onlyProvider }
        let due = planned ?? support.due(given: state, at: now, under: policy)
        let plan = shown(
            due: change == .stop ? nil : due,
            request: planned == nil ? support.request(of: effect, due: due, under: policy) : nil)
        let event = support.event(
            isPlanned: planned != nil,
            planned: .providerUnlinkPlanned(
                ProviderUnlinkPlanned(
                    account: account, due: due, identity: identity, provider: link.provider)),
            stopped: .providerUnlinkStopped(link.unlinkStopped(.support, of: account)))
        guard let event else {
            return Decision(
                .success(change == .preview ? .unlinkPreviewed(plan) : .unlinkUnchanged(plan)))
        }
        return Decision(.success(.unlinkPlanned(plan, nil)), drafts: [support.draft(event)])
    }
}

extension Account.Link {
    /// Returns the stop of the link's planned unlink.
    func unlinkStopped(
        _ cause: ProviderUnlinkStopped.Cause, of account: AccountID
    ) -> ProviderUnlinkStopped {
        ProviderUnlinkStopped(
            account: account, cause: cause, identity: identity, provider: provider)
    }
}

extension PlanUnlink: LedgerRequest {
    /// A change that has its effect.
    package struct Success: Hashable, Sendable {
        package let plan: Plan
        /// The event; nil when the unlink was as requested already.
        package let event: EventID?
    }

    /// Requests the plan alone.
    package struct Preview: LedgerRequest {
        private let command: PlanUnlink

        /// Requests the plan of an unlink.
        package init(of identity: IdentityID, of account: AccountID, actor: Actor) {
            command = PlanUnlink(.preview, of: identity, of: account, actor: actor)
        }

        package var intent: Command.Intent { .planUnlink(command) }

        /// Returns the plan in a reply to the preview.
        package static func success(in reply: Reply) -> Plan? {
            guard case .unlinkPreviewed(let plan) = reply else { return nil }
            return plan
        }
    }

    package var intent: Command.Intent { .planUnlink(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        switch reply {
        case .unlinkPlanned(let plan, let event?): Success(plan: plan, event: event)
        case .unlinkUnchanged(let plan): Success(plan: plan, event: nil)
        default: nil
        }
    }
}
