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
            secondFactors[factor.account, default: []].append(factor.id)
        }
    }

    mutating func release(_ factor: HeldFactor) {
        factors[factor.id] = nil
        secondFactors[factor.account]?.removeAll { $0 == factor.id }
        if secondFactors[factor.account]?.isEmpty == true { secondFactors[factor.account] = nil }
    }
}
