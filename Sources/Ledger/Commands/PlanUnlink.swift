/// Plans the unlink of an identity for the account holder, for support, stops a planned one, or returns the plan.
///
/// The person has some hours to stop it, as support can be deceived, unless a second person does it at once.
package struct PlanUnlink: Sendable {
    /// The kind of a change.
    package enum Change: Hashable, Sendable {
        case plan
        case stop
        /// Nothing changes; the plan is returned.
        case preview
    }

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

    package let change: Change
    package let account: AccountID
    package let identity: IdentityID
    package let actor: Actor
    package let reason: String
    package let caseReference: String
    package let step: UnmergeAccounts.Step

    /// The agreement of two persons to a plan.
    private func confirmation(_ policy: TenantPolicy) -> SupportConfirmation {
        SupportConfirmation(
            effect: "unlink identity \(identity) from account \(account)", actor: actor,
            step: step, policy: policy)
    }

    private var disclosures: [Disclosure] {
        [Disclosure(.caseReference, caseReference), Disclosure(.reason, reason)]
    }

    /// Requests a change; `step` is the caller's part in a plan that a second person may do at once.
    package init(
        _ change: Change, of identity: IdentityID, of account: AccountID, actor: Actor,
        reason: String = "", caseReference: String = "", step: UnmergeAccounts.Step = .alone
    ) {
        self.change = change
        self.account = account
        self.identity = identity
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
        guard let link = known.links.first(where: { $0.identity == identity }) else {
            return .refused(.providerNotLinked)
        }
        let planned = state.ledger.identities[identity]?.unlinkDue
        let rest = known.links.filter { other in
            other.identity == identity
                ? change == .stop : state.ledger.identities[other.identity]?.unlinkDue == nil
        }
        if case .confirm(let request, let hash) = step {
            let refusal = confirmation(policy).refusal(
                of: request, by: hash, due: planned, known)
            if let refusal { return .refused(refusal) }
            return unlink(link, of: known, keeping: rest, state, at: now, policy)
        }
        // A plan that exists stays as it is: the rules may have changed since.
        guard
            change == .stop || planned != nil
                || state.canSignIn(to: rest, with: known.secondFactors, at: now, under: policy)
        else { return .refused(.onlyProvider) }
        // The event may be dated after the clock, if that was set back.
        let recordedAt = max(now, state.ledger.lastRecordedAt)
        let due = planned ?? policy.supportDue(after: recordedAt)
        let plan = Plan(
            account: account, identity: identity, provider: link.provider,
            due: change == .stop ? nil : due, linkedProviders: rest.providers,
            request: change == .plan && planned == nil
                ? confirmation(policy).request(due: due) : nil)
        let event: Event? =
            switch (change, planned) {
            case (.plan, nil):
                .providerUnlinkPlanned(
                    ProviderUnlinkPlanned(
                        account: account, due: due, identity: identity, provider: link.provider))
            case (.stop, _?): .providerUnlinkStopped(link.unlinkStopped(.support, of: account))
            case (.plan, _?), (.stop, nil), (.preview, _): nil
            }
        guard let event else {
            return Decision(
                .success(change == .preview ? .unlinkPreviewed(plan) : .unlinkUnchanged(plan)))
        }
        return Decision(
            .success(.unlinkPlanned(plan, nil)),
            drafts: [
                .init(event, actor: actor, disclosures: disclosures, disclosesRequest: false)
            ])
    }

    /// Unlinks at once what was planned; `rest` are the links without planned unlinks.
    private func unlink(
        _ link: Account.Link, of known: Account, keeping rest: [Account.Link],
        _ state: DecisionState, at now: Timestamp, _ policy: TenantPolicy
    ) -> Decision {
        let others = known.links.filter { $0.identity != identity }
        guard state.canSignIn(to: others, with: known.secondFactors, at: now, under: policy) else {
            return .refused(.onlyProvider)
        }
        let fact = ProviderUnlinked(
            account: account, identity: identity, provider: link.provider, cause: .support)
        let plan = Plan(
            account: account, identity: identity, provider: link.provider, due: nil,
            linkedProviders: rest.providers)
        return Decision(
            .success(.unlinkPlanned(plan, nil)),
            drafts: [
                .init(
                    .providerUnlinked(fact), actor: actor, disclosures: disclosures,
                    disclosesRequest: false)
            ])
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
