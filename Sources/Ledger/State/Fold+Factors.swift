/// How events of second factors follow on the state.
extension Fold {
    mutating func enrol(
        _ fact: SecondFactorEnrolled, at position: LogPosition
    ) throws(FoldFault) {
        try requireAccount(fact.account)
        try requireEnabled(fact.account)
        guard factor(fact.factor) == nil else {
            throw .impossible("factor \(fact.factor) already belongs to an account")
        }
        let isFirst = fact.kind.isRequired && secondFactors(of: fact.account).isEmpty
        guard fact.isFirst == isFirst else {
            throw .impossible("account \(fact.account) has other factors than the event says")
        }
        if !fact.kind.isRequired { try requireSecondFactor(fact.account) }
        if let replaced = fact.replaced {
            guard fact.kind == .recoveryCodes, let former = factor(replaced),
                former.holder == fact.account, former.kind == fact.kind
            else { throw .impossible("account \(fact.account) has no such recovery codes") }
            release(former)
        }
        hold(
            HeldFactor(
                id: fact.factor, kind: fact.kind, account: fact.account, position: position))
        if fact.isFirst { endSessions(of: fact.account, at: position) }
    }

    mutating func remove(
        _ fact: SecondFactorRemoved, _ recorded: RecordedEvent
    ) throws(FoldFault) {
        try requireAccount(fact.account)
        let known = try requireFactor(fact.factor, fact.kind, of: fact.account)
        if fact.cause == .support {
            // The recovery codes go with the last factor, without a plan of their own.
            let isAlong = !fact.kind.isRequired && secondFactors(of: fact.account).isEmpty
            try requireEffect(
                fact.effect, of: "the removal of factor \(fact.factor)",
                due: isAlong ? recorded.recordedAt : known.removalDue, at: fact.account, recorded)
        }
        release(known)
    }

    mutating func plan(
        _ fact: SecondFactorRemovalPlanned, at time: Timestamp
    ) throws(FoldFault) {
        try requireAccount(fact.account)
        var known = try requireFactor(fact.factor, fact.kind, of: fact.account)
        guard known.removalDue == nil, fact.kind.isRequired, fact.due > time else {
            throw .impossible("the removal of factor \(fact.factor) is already planned")
        }
        known.removalDue = fact.due
        hold(known)
    }

    mutating func stop(_ fact: SecondFactorRemovalStopped) throws(FoldFault) {
        try requireAccount(fact.account)
        guard var known = factor(fact.factor), known.holder == fact.account,
            known.removalDue != nil
        else { throw .impossible("no removal of factor \(fact.factor) is planned") }
        known.removalDue = nil
        hold(known)
    }

    mutating func use(_ fact: RecoveryCodeUsed) throws(FoldFault) {
        try requireAccount(fact.account)
        var codes = try requireFactor(fact.factor, .recoveryCodes, of: fact.account)
        guard fact.code < Int64.bitWidth - 1, codes.usedCodes & (1 << fact.code) == 0 else {
            throw .impossible("recovery code \(fact.code) was used before")
        }
        codes.usedCodes |= 1 << fact.code
        hold(codes)
    }

    func requireSecondFactor(_ account: AccountID) throws(FoldFault) {
        guard !secondFactors(of: account).isEmpty else {
            throw .impossible("account \(account) has no second factor")
        }
    }

    private func requireFactor(
        _ id: FactorID, _ kind: FactorKind, of account: AccountID
    ) throws(FoldFault) -> HeldFactor {
        guard let known = factor(id), known.holder == account, known.kind == kind else {
            throw .impossible("account \(account) has no such factor")
        }
        return known
    }
}
