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

    /// Requires the plan of an unlink by support, which happens at its time or, by a second person, before, and not
    /// while the holder can't stop it.
    func requireDue(
        _ fact: ProviderUnlinked, _ recorded: RecordedEvent
    ) throws(FoldFault) {
        try requireEnabled(fact.account)
        let isConfirmed = if case .principal = recorded.actor { true } else { false }
        guard let due = status(of: fact.identity)?.unlinkDue,
            isConfirmed || due <= recorded.recordedAt
        else {
            throw .impossible("the unlink of identity \(fact.identity) is not due")
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
