extension CompactState {
    func holds(on account: AccountID) -> [HoldID] {
        holds.isEmpty ? [] : holds[account] ?? []
    }

    mutating func set(_ holds: [HoldID], on account: AccountID) {
        self.holds[account] = holds.isEmpty ? nil : holds
    }
}
