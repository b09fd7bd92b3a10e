/// Destroys what is kept about the person of an account; what the log says of the account stays.
package struct EraseAccount: Sendable {
    package let account: AccountID
    package let basis: AccountErased.Basis
    package let actor: Actor

    /// Asks for an erasure.
    package init(account: AccountID, basis: AccountErased.Basis, actor: Actor) {
        self.account = account
        self.basis = basis
        self.actor = actor
    }

    /// Erases every account that merges made one with the account.
    ///
    /// Of one that was erased already it says so, and nothing is appended again.
    func decide(given state: DecisionState) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        if let position = known.erasedPosition {
            return Decision(.success(.erased(at: position, isNew: false, covering: [])))
        }
        let family = state.ledger.absorbed(by: state.ledger.root(of: account))
        guard family.allSatisfy({ state.ledger.accounts[$0]?.holds.isEmpty ?? true }) else {
            return .refused(.legalHold)
        }
        let place = Int64(family.firstIndex(of: account) ?? 0)
        return Decision(
            .success(
                .erased(
                    at: LogPosition(state.ledger.nextPosition.value + place), isNew: true,
                    covering: family.filter { $0 != account })),
            drafts: family.map {
                .administered(
                    .accountErased(AccountErased(account: $0, basis: basis)), by: actor)
            },
            effects: family.map(Decision.Effect.forgotten))
    }
}

extension LedgerState {
    /// The account that stands for an account: itself, unless it was merged into another one.
    func root(of account: AccountID) -> AccountID {
        var root = account
        while let survivor = accounts[root]?.mergedInto { root = survivor }
        return root
    }

    /// The accounts that an account stands for, each before the one that absorbed it, itself last.
    func absorbed(by account: AccountID) -> [AccountID] {
        (accounts[account]?.merges ?? []).flatMap { absorbed(by: $0.absorbed) } + [account]
    }

}
