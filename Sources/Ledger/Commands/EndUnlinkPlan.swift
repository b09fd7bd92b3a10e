/// Ends the plan of an unlink by support: the account holder keeps the identity, or it is unlinked when it is due.
///
/// The last way to sign in is not unlinked, and its plan ends.
package struct EndUnlinkPlan: Sendable {
    /// The way in which a plan ends.
    package enum Ending: Hashable, Sendable {
        /// The account holder stops it.
        case kept(Caller)
        /// The unlink from this account is due.
        case due(AccountID)
    }

    package let identity: IdentityID
    package let ending: Ending

    /// Requests the end of a plan.
    package init(of identity: IdentityID, _ ending: Ending) {
        self.identity = identity
        self.ending = ending
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        switch ending {
        case .kept(let caller):
            guard let account = state.account(of: caller, at: now) else {
                return .refused(.sessionEnded)
            }
            guard let (link, _) = planned(account, state) else {
                return .refused(.providerNotLinked)
            }
            let fact = link.unlinkStopped(.holder, of: account.id)
            return Decision(
                .success(.unlinkPlanEnded(.stopped)),
                drafts: [
                    .init(
                        .providerUnlinkStopped(fact),
                        actor: .account(account.id, session: caller.session))
                ])
        case .due(let id):
            guard let account = state.ledger.accounts[id], account.mergedInto == nil,
                account.disabledPosition == nil,
                let (link, due) = planned(account, state), due <= now
            else { return .refused(.providerNotLinked) }
            let rest = account.links.filter { $0.identity != identity }
            guard state.canSignIn(to: rest, with: account.secondFactors, at: nil, under: policy)
            else {
                let fact = link.unlinkStopped(.onlyProvider, of: id)
                return Decision(
                    .success(.unlinkPlanEnded(.stopped)),
                    drafts: [.administered(.providerUnlinkStopped(fact), by: .system)])
            }
            let fact = ProviderUnlinked(
                account: id, identity: identity, provider: link.provider, cause: .support)
            return Decision(
                .success(.unlinkPlanEnded(.unlinked)),
                drafts: [.administered(.providerUnlinked(fact), by: .system)])
        }
    }

    private func planned(
        _ account: Account, _ state: DecisionState
    ) -> (link: Account.Link, due: Timestamp)? {
        guard let link = account.links.first(where: { $0.identity == identity }),
            let due = state.ledger.identities[identity]?.unlinkDue
        else { return nil }
        return (link: link, due: due)
    }
}

extension EndUnlinkPlan: LedgerRequest {
    /// The result of the end of a plan.
    package enum Success: Hashable, Sendable {
        /// The identity stays.
        case stopped
        /// The identity was unlinked.
        case unlinked
    }

    package var intent: Command.Intent { .endUnlinkPlan(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        if case .unlinkPlanEnded(let success) = reply { success } else { nil }
    }
}
