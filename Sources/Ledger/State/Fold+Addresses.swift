/// How events of addresses follow on the state.
extension Fold {
    mutating func claim(_ fact: AddressClaimed, at position: LogPosition) throws(FoldFault) {
        try requireAccount(fact.account)
        try requireFree(fact.address)
        hold(
            HeldAddress(
                id: fact.address, kind: fact.kind, account: fact.account, position: position,
                isClaimed: true))
    }

    mutating func confirm(
        _ fact: AddressConfirmed, at position: LogPosition
    ) throws(FoldFault) {
        guard let held = holder(of: fact.address) else {
            try requireAccount(fact.account)
            hold(
                HeldAddress(
                    id: fact.address, kind: fact.kind, account: fact.account, position: position))
            return
        }
        // A claim, or an address that is confirmed again; a merge does not change its account.
        try requireUnerased(fact.account)
        guard held.account == fact.account, held.kind == fact.kind, held.formerOf == nil,
            fact.cause == .proved
        else {
            throw .impossible("account \(fact.account) does not have address \(fact.address)")
        }
        hold(held.changed(at: position, keptUntil: held.keptUntil))
    }

    mutating func release(_ fact: AddressReleased) throws(FoldFault) {
        try requireUnerased(fact.account)
        guard holder(of: fact.address)?.account == fact.account else {
            throw .impossible("address \(fact.address) does not belong to account \(fact.account)")
        }
        release(fact.address)
    }

    mutating func change(
        _ fact: AddressChanged, at position: LogPosition, _ time: Timestamp
    ) throws(FoldFault) {
        try requireUnerased(fact.account)
        try requireAccount(fact.holder)
        guard let present = holder(of: fact.address), present.account == fact.account,
            present.kind == fact.kind, present.formerOf == nil, !present.isClaimed
        else {
            throw .impossible("address \(fact.address) does not belong to account \(fact.account)")
        }
        switch fact.cause {
        case .change:
            try requireFree(fact.former)
            let until = time.adding(seconds: HeldAddress.keptSeconds)
            hold(present.former(as: fact.former, until: until))
            hold(present.changed(at: position, keptUntil: until))
        case .takenBack:
            guard holder(of: fact.former)?.formerOf == fact.address else {
                throw .impossible("address \(fact.former) is not the former \(fact.address)")
            }
            release(fact.former)
            hold(present.changed(at: position, keptUntil: nil))
        }
        endSessions(of: fact.holder, at: position)
    }

    private func requireFree(_ address: AddressID) throws(FoldFault) {
        guard holder(of: address) == nil else {
            throw .impossible("address \(address) already belongs to an account")
        }
    }
}
