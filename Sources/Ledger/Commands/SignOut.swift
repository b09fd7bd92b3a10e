/// Ends the caller's session, or all sessions of the caller's account with its device tokens.
package struct SignOut: Sendable {
    package let caller: Caller
    package let scope: SignedOut.Scope

    /// Requests the end.
    package init(caller: Caller, scope: SignedOut.Scope) {
        self.caller = caller
        self.scope = scope
    }

    func decide(given state: DecisionState, at now: Timestamp) -> Decision {
        guard state.account(of: caller, at: now) != nil else { return .refused(.sessionEnded) }
        let fact = SignedOut(account: caller.account, scope: scope, session: caller.session)
        return Decision(
            .success(.signedOut),
            drafts: [
                .init(
                    .signedOut(fact), actor: .account(caller.account, session: caller.session))
            ],
            effects: scope == .everywhere
                ? [.devicesEndedOf(state.ledger.absorbed(by: caller.account))] : [])
    }
}

extension SignOut: LedgerRequest {
    package var intent: Command.Intent { .signOut(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Void? {
        reply == .signedOut ? () : nil
    }
}
