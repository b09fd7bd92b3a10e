/// Ends a hold on an account.
package struct LiftLegalHold: Sendable {
    package let account: AccountID
    package let hold: HoldID
    package let actor: Actor

    /// Requests the end of a hold.
    package init(account: AccountID, hold: HoldID, actor: Actor) {
        self.account = account
        self.hold = hold
        self.actor = actor
    }

    func decide(given state: DecisionState) -> Decision {
        guard let known = state.ledger.accounts[account] else { return .refused(.unknownAccount) }
        guard known.erasedPosition == nil else { return .refused(.accountErased) }
        guard known.holds.contains(hold) else { return .refused(.unknownHold) }
        let fact = LegalHoldLifted(account: account, hold: hold)
        return Decision(
            .success(.holdLifted), drafts: [.administered(.legalHoldLifted(fact), by: actor)])
    }
}

extension LiftLegalHold: LedgerRequest {
    package var intent: Command.Intent { .liftLegalHold(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Void? {
        reply == .holdLifted ? () : nil
    }
}
