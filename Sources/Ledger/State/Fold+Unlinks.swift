/// How planned unlinks follow on the state.
extension Fold {
    mutating func plan(_ fact: ProviderUnlinkPlanned, at time: Timestamp) throws(FoldFault) {
        let known = try requireLink(of: fact.identity, to: fact.account, at: fact.provider)
        guard status(of: fact.account)?.linkCount ?? 0 > 1 else {
            throw .impossible("account \(fact.account) would have no way to sign in")
        }
        guard known.unlinkDue == nil, fact.due > time else {
            throw .impossible("the unlink of identity \(fact.identity) is already planned")
        }
        setUnlinkDue(fact.due, of: fact.identity)
    }

    mutating func stop(_ fact: ProviderUnlinkStopped) throws(FoldFault) {
        let known = try requireLink(of: fact.identity, to: fact.account, at: fact.provider)
        guard known.unlinkDue != nil else {
            throw .impossible("no unlink of identity \(fact.identity) is planned")
        }
        setUnlinkDue(nil, of: fact.identity)
    }

    /// Requires that a plan of support for an account takes effect at its time or, by a second person in a tenant whose
    /// rules have one, before, and not while the holder can't stop it.
    func requireEffect(
        _ effect: PlanEffect, of plan: String, due: Timestamp?, at account: AccountID,
        _ recorded: RecordedEvent
    ) throws(FoldFault) {
        try requireEnabled(account)
        guard let due else { throw .impossible("\(plan) was not planned") }
        if effect.asker == nil, due <= recorded.recordedAt { return }
        guard case .principal(let actor) = recorded.actor else {
            throw .impossible("\(plan) is not due")
        }
        guard !knowsTenant || rules?.policy.supportNeedsTwo == true else {
            throw .impossible("\(plan) is not due, and the rules have no second person")
        }
        switch effect {
        case .due: throw .impossible("\(plan) is not due, and names no asker")
        case .confirmed(let asker):
            guard !actor.isSame(as: asker) else {
                throw .impossible("\(plan) was asked for and confirmed by one person")
            }
        // Former releases checked the second person, and did not record who asked.
        case .unstated: break
        }
    }

    private func requireLink(
        of identity: IdentityID, to account: AccountID, at provider: ProviderName
    ) throws(FoldFault) -> IdentityStatus {
        try requireLink(of: identity, to: account)
        guard let known = status(of: identity), known.provider == provider else {
            throw .impossible("identity \(identity) is of another provider")
        }
        return known
    }
}
