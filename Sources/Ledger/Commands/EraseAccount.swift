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

    /// An account that was erased already answers so, and nothing is appended again.
    func decide(given state: DecisionState) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        if let position = known.erasedPosition {
            return Decision(.success(.erased(at: position, isNew: false)))
        }
        guard known.holds.isEmpty else { return .refused(.legalHold) }
        let fact = AccountErased(account: account, basis: basis)
        return Decision(
            .success(.erased(at: state.ledger.nextPosition, isNew: true)),
            drafts: [.administered(.accountErased(fact), by: actor)],
            effects: [.forgotten(account)])
    }
}
