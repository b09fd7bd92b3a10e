/// How merges and their undoing follow on the state.
extension Fold {
    func checkMerge(_ fact: AccountsMerged, by actor: Actor) throws(FoldFault) {
        try requireCapacity(fact.moved, fact.dropped, fact.replaced, fact.links)
        for account in [fact.survivor, fact.absorbed] {
            try requireAccount(account)
            try requireEnabled(account)
        }
        try requireFactors(fact.factors, of: fact.absorbed, heldBy: fact.absorbed)
        if fact.cause == .support {
            let factors = secondFactors(of: fact.survivor) + fact.factors.required
            try requireTwo(fact.asker, for: factors, "merge", actor)
        }
        if let links = links(of: fact.absorbed) {
            var moved = fact.moved
            for link in fact.dropped { moved.insert(link) }
            guard moved == links else {
                throw .impossible("the moved links differ from those of account \(fact.absorbed)")
            }
        }
        if var links = links(of: fact.survivor) {
            guard fact.replaced.allSatisfy(links.contains) else {
                throw .impossible("account \(fact.survivor) does not have a replaced link")
            }
            links.remove(fact.replaced.map(\.identity))
            for link in fact.moved { links.insert(link) }
            guard links == fact.links else {
                throw .impossible("the final links differ from those of account \(fact.survivor)")
            }
        }
        guard !fact.links.isEmpty else {
            throw .impossible("account \(fact.survivor) would have no way to sign in")
        }
    }

    /// Refuses links that do not fit into an entry, which could not be read back.
    private func requireCapacity(_ lists: [Account.Link]...) throws(FoldFault) {
        guard lists.map(\.count).reduce(0, +) <= EntryDetails.linksMax else {
            throw .impossible("the links exceed what an entry can hold")
        }
    }

    func checkUnmerge(_ fact: AccountsUnmerged, by actor: Actor) throws(FoldFault) {
        try requireCapacity(fact.returned, fact.restored, fact.links)
        try requireAccount(fact.survivor)
        try requireEnabled(fact.survivor)
        try requireUnerased(fact.absorbed)
        guard status(of: fact.absorbed)?.mergedInto == fact.survivor else {
            throw .impossible("account \(fact.absorbed) is not merged into \(fact.survivor)")
        }
        guard !fact.returned.isEmpty, !fact.links.isEmpty else {
            throw .impossible("an account would have no way to sign in")
        }
        try requireFactors(fact.factors, of: fact.absorbed, heldBy: fact.survivor)
        // Former releases undid merges that moved no factors, and did not record who asked.
        try requireTwo(fact.asker, for: fact.factors.required, "undoing of a merge", actor)
        guard var links = links(of: fact.survivor) else { return }
        guard let merge = merges(of: fact.survivor).first(where: { $0.id == fact.merge }),
            merge.absorbed == fact.absorbed,
            Set(fact.returned.map(\.identity)) == Set(merge.moved + merge.dropped),
            Set(fact.restored.map(\.identity)) == Set(merge.replaced)
        else { throw .impossible("the returned links differ from the moved ones") }
        let moved = Set(merge.moved)
        for link in fact.returned where moved.contains(link.identity) {
            guard links.contains(link) else {
                throw .impossible("identity \(link.identity) has changed since the merge")
            }
        }
        for link in fact.returned + fact.restored where !moved.contains(link.identity) {
            try requireUnlinkedByMerge(link)
        }
        links.remove(merge.moved)
        for link in fact.restored { links.insert(link) }
        guard links == fact.links else {
            throw .impossible("the final links differ from those of account \(fact.survivor)")
        }
    }

    /// Requires an identity that a merge unlinked, where it is known, and that was not linked
    /// since.
    private func requireUnlinkedByMerge(_ link: Account.Link) throws(FoldFault) {
        guard let known = status(of: link.identity) else { return }
        guard known.account == nil, !known.isForgotten, known.linkedPosition == link.position else {
            throw .impossible("identity \(link.identity) has changed since the merge")
        }
    }

    /// Requires that factors are all of an absorbed account, where that is known, and that an account holds them.
    private func requireFactors(
        _ factors: [MergedFactor], of absorbed: AccountID, heldBy holder: AccountID
    ) throws(FoldFault) {
        guard links(of: absorbed) == nil || factors.required == secondFactors(of: absorbed),
            Set(factors.map(\.id)).count == factors.count,
            factors.allSatisfy({ factor($0.id).map(MergedFactor.init) ?? $0 == $0 })
        else {
            throw .impossible("the factors differ from those of account \(absorbed)")
        }
        for factor in factors.compactMap({ self.factor($0.id) }) where factor.holder != holder {
            throw .impossible("factor \(factor.id) is of another account than the event says")
        }
    }

    /// Requires that a person of support asked for what touches second factors, and that another one confirmed it.
    private func requireTwo(
        _ asker: Principal?, for factors: [FactorID], _ change: String, _ actor: Actor
    ) throws(FoldFault) {
        guard !factors.isEmpty else { return }
        guard let asker, case .principal(let confirming) = actor, !confirming.isSame(as: asker)
        else { throw .impossible("the \(change) needs two persons") }
    }
}
