extension CompactState {
    /// Calls a function with every second factor and set of recovery codes that an account has.
    package func eachFactor(_ body: (HeldFactor) -> Void) {
        for factor in factors.values where !isErased(factor.account) { body(factor) }
    }

    func factor(_ id: FactorID) -> HeldFactor? {
        guard let held = factors[id], !isErased(held.account) else { return nil }
        return held
    }

    func secondFactors(of account: AccountID) -> [FactorID] {
        secondFactors.isEmpty ? [] : secondFactors[account] ?? []
    }

    mutating func hold(_ factor: HeldFactor) {
        if factors.updateValue(factor, forKey: factor.id) == nil, factor.kind.isRequired {
            secondFactors[factor.holder, default: []].append(factor.id)
        }
    }

    mutating func release(_ factor: HeldFactor) {
        factors[factor.id] = nil
        secondFactors[factor.holder]?.removeAll { $0 == factor.id }
        if secondFactors[factor.holder]?.isEmpty == true { secondFactors[factor.holder] = nil }
    }

    /// Adds the factors of the absorbed account to those of the survivor.
    mutating func unite(_ fact: AccountsMerged) {
        guard !fact.factors.isEmpty else { return }
        if fact.factors.bringFirst(to: secondFactors(of: fact.survivor)) {
            endSessions(of: fact.survivor, at: nextPosition)
        }
        for factor in fact.factors { factors[factor.id]?.move(to: fact.survivor) }
        secondFactors[fact.survivor, default: []] += fact.factors.required
    }

    /// Returns the factors of the absorbed account to it.
    mutating func separate(_ fact: AccountsUnmerged) {
        guard !fact.factors.isEmpty else { return }
        for factor in fact.factors { factors[factor.id]?.move(to: fact.absorbed) }
        secondFactors[fact.survivor]?.removeAll(where: fact.factors.required.contains)
        if secondFactors[fact.survivor]?.isEmpty == true { secondFactors[fact.survivor] = nil }
    }
}
