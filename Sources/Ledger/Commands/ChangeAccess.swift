/// Disables or enables an account or ends all its sessions, for support, or returns the plan.
///
/// A disabled account can be erased and held, and neither signed in to, linked nor merged.
package struct ChangeAccess: Sendable {
    /// The kind of a change.
    package enum Change: String, Hashable, Sendable, CaseIterable {
        /// Ends all sessions, and refuses every sign-in from then on.
        case disable
        /// Allows sign-ins again.
        case enable
        case endSessions = "end_sessions"
    }

    /// The account before a change.
    package struct Plan: Hashable, Sendable {
        package let account: AccountID
        /// Whether the account is disabled.
        package let isDisabled: Bool
        /// The account and every account that it absorbed: the change concerns all of them.
        package let covers: [AccountID]
        /// The linked providers, in linking order.
        package let linkedProviders: [ProviderName]
    }

    package let change: Change
    package let account: AccountID
    package let actor: Actor
    package let reason: String
    package let caseReference: String
    /// Whether only the plan is requested.
    package let isPreview: Bool

    /// Requests a change.
    package init(
        _ change: Change, of account: AccountID, actor: Actor, reason: String,
        caseReference: String, isPreview: Bool = false
    ) {
        self.change = change
        self.account = account
        self.actor = actor
        self.reason = reason
        self.caseReference = caseReference
        self.isPreview = isPreview
    }

    func decide(given state: DecisionState) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        guard known.erasedPosition == nil else { return .refused(.accountErased) }
        if let survivor = known.mergedInto { return .refused(.accountMerged(into: survivor)) }
        let plan = Plan(
            account: account, isDisabled: known.disabledPosition != nil,
            covers: state.ledger.absorbed(by: account), linkedProviders: known.linkedProviders)
        guard !isPreview else { return Decision(.success(.accessPlanned(plan))) }
        let event: Event? =
            switch (change, plan.isDisabled) {
            case (.disable, false): .accountDisabled(AccountDisabled(account: account))
            case (.enable, true): .accountEnabled(AccountEnabled(account: account))
            case (.endSessions, false): .sessionsEnded(SessionsEnded(account: account))
            // A repeated request has its effect already; a disabled account has no sessions.
            case (.disable, true), (.enable, false), (.endSessions, true): nil
            }
        guard let event else { return Decision(.success(.accessUnchanged(plan))) }
        // The holder of a disabled account had no session in which to stop what support planned.
        let kept =
            change == .enable
            ? known.secondFactors.filter { state.ledger.factors[$0]?.removalDue != nil } : []
        let linked =
            change == .enable
            ? known.links.filter { state.ledger.identities[$0.identity]?.unlinkDue != nil } : []
        let stops =
            kept.map {
                Event.secondFactorRemovalStopped(
                    SecondFactorRemovalStopped(account: account, cause: .support, factor: $0))
            } + linked.map { .providerUnlinkStopped($0.unlinkStopped(.support, of: account)) }
        return Decision(
            .success(.accessChanged(plan, nil)),
            drafts: ([event] + stops).map {
                .init(
                    $0, actor: actor,
                    disclosures: [
                        Disclosure(.caseReference, caseReference), Disclosure(.reason, reason),
                    ], disclosesRequest: false)
            },
            effects: change == .enable
                ? kept.map { .factorChanged($0) } : [.challengesEndedOf(plan.covers)])
    }
}

extension ChangeAccess: LedgerRequest {
    /// A change that has its effect.
    package struct Success: Hashable, Sendable {
        /// The account before the change.
        package let plan: Plan
        /// The event; nil when the account was as requested already.
        package let event: EventID?
    }

    /// Requests the plan alone.
    package struct Preview: LedgerRequest {
        private let command: ChangeAccess

        /// Requests the plan of a change.
        package init(_ change: Change, of account: AccountID, actor: Actor) {
            command = ChangeAccess(
                change, of: account, actor: actor, reason: "", caseReference: "", isPreview: true)
        }

        package var intent: Command.Intent { .changeAccess(command) }

        /// Returns the plan in a reply to the preview.
        package static func success(in reply: Reply) -> Plan? {
            guard case .accessPlanned(let plan) = reply else { return nil }
            return plan
        }
    }

    package var intent: Command.Intent { .changeAccess(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        switch reply {
        case .accessChanged(let plan, let event?): Success(plan: plan, event: event)
        case .accessUnchanged(let plan): Success(plan: plan, event: nil)
        default: nil
        }
    }
}
