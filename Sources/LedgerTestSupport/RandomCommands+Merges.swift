import Ledger

/// Merges, and their undoing.
extension RandomCommands {
    /// Requests a merge plan, which the next command executes.
    mutating func merge() -> Command.Intent {
        let caller = randomCaller()
        let isByHolder = Bool.random(using: &generator)
        let authority: MergeAccounts.Authority =
            if isByHolder, unitesFactors {
                .holderOfBoth(caller, randomCaller())
            } else if isByHolder {
                .accountHolder(caller, randomCredential())
            } else {
                .support(
                    Actor.principal(Principal(key: generator.id(), role: .support)),
                    MergeAccounts.Case(
                        survivor: caller.account, absorbed: randomCaller().account,
                        reason: "one person", reference: "case 7",
                        step: unitesFactors ? .ask(sha256) : .alone))
            }
        let kept = Self.providers.filter { _ in
            Int.random(in: 0..<6, using: &generator) == 0 && !unitesFactors
        }
        let intent = MergeAccounts(
            authority: authority, keepsAbsorbed: Set(kept), agreed: nil, digest: sha256)
        lastPlanned = intent
        return .mergeAccounts(intent)
    }

    mutating func unmerge() -> Command.Intent {
        guard !merges.isEmpty else { return merge() }
        // The most recent ones are most likely active.
        let recent = merges.suffix(4)
        let merge = recent[Int.random(in: recent.startIndex..<recent.endIndex, using: &generator)]
        let intent = UnmergeAccounts(
            merge: merge.event, survivor: merge.survivor, absorbed: merge.absorbed,
            actor: .principal(Principal(key: generator.id(), role: .support)),
            reason: "two people", caseReference: "case 8",
            isPreview: Int.random(in: 0..<5, using: &generator) == 0,
            step: undoesByTwo ? .ask(sha256) : .alone)
        lastUndoing = intent
        return .unmergeAccounts(intent)
    }
}

extension UnmergeAccounts {
    /// Returns the undoing that was asked for, as another person confirms it.
    func confirmed(_ digest: Digest) -> UnmergeAccounts? {
        guard case .principal(let asker) = actor else { return nil }
        return UnmergeAccounts(
            merge: merge, survivor: survivor, absorbed: absorbed,
            actor: .principal(Principal(key: EntityID(bits: 7), role: .support)), reason: reason,
            caseReference: caseReference, isPreview: false,
            step: .confirm(TwoPersonStep.Request(asker: asker, digest: digest), sha256))
    }
}
