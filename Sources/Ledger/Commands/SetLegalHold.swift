/// Prevents an account from being erased until the hold is lifted.
package struct SetLegalHold: Sendable {
    /// The maximum number of concurrent holds of an account.
    package static let holdsMax = 16

    package let account: AccountID
    /// The id of the hold; repeating it with the same id answers the same.
    package let newHold: HoldID
    package let actor: Actor

    /// Requests a hold.
    package init(account: AccountID, newHold: HoldID, actor: Actor) {
        self.account = account
        self.newHold = newHold
        self.actor = actor
    }

    func decide(given state: DecisionState) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        guard known.erasedPosition == nil else { return .refused(.accountErased) }
        guard !known.holds.contains(newHold) else { return Decision(.success(.holdSet(newHold))) }
        guard known.holds.count < Self.holdsMax else { return .refused(.tooManyHolds) }
        let fact = LegalHoldSet(account: account, hold: newHold)
        return Decision(
            .success(.holdSet(newHold)),
            drafts: [.administered(.legalHoldSet(fact), by: actor)])
    }
}

extension SetLegalHold: LedgerRequest {
    package var intent: Command.Intent { .setLegalHold(self) }

    /// Returns the id of the hold in a reply to the command.
    package static func success(in reply: Reply) -> HoldID? {
        guard case .holdSet(let hold) = reply else { return nil }
        return hold
    }
}
