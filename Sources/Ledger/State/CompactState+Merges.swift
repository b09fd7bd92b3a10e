extension CompactState {
    func merges(of account: AccountID) -> [Merge] {
        merges.isEmpty ? [] : merges[account] ?? []
    }

    /// Returns the account that absorbed an account, if any.
    package func survivor(of account: AccountID) -> AccountID? {
        survivors.isEmpty ? nil : survivors[account]
    }

    /// Calls a function with every merge that was not undone.
    package func eachMerge(_ body: (Merge) -> Void) {
        for merge in merges.values.joined() { body(merge) }
    }
}
