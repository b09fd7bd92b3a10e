/// Removes a second factor or the recovery codes of the caller's account.
///
/// The recovery codes go with the last factor.
package struct RemoveFactor: Sendable {
    package let caller: Caller
    package let factor: FactorID

    /// Requests a removal.
    package init(caller: Caller, factor: FactorID) {
        self.caller = caller
        self.factor = factor
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        guard let account = state.account(of: caller, at: now) else {
            return .refused(.sessionEnded)
        }
        guard let held = state.ledger.factors[factor], held.account == account.id else {
            return .refused(.unknownFactor)
        }
        guard !state.lacksSecondFactor(caller, at: now, under: policy) else {
            return .refused(.reauthenticationRequired)
        }
        let isLast = account.secondFactors == [factor]
        let codes = state.ledger.factors.values.filter {
            isLast && $0.account == account.id && $0.kind == .recoveryCodes
        }
        return Decision(
            .success(.factorRemoved),
            drafts: ([held] + codes).map { factor in
                .init(
                    .secondFactorRemoved(
                        SecondFactorRemoved(
                            account: account.id, cause: .holder, factor: factor.id,
                            kind: factor.kind)),
                    actor: .account(account.id, session: caller.session))
            }, effects: [.challengesEndedOf([account.id])])
    }
}

extension RemoveFactor: LedgerRequest {
    package var intent: Command.Intent { .removeFactor(self) }

    /// Returns nothing for a reply that says that the factor was removed.
    package static func success(in reply: Reply) -> Void? {
        reply == .factorRemoved ? () : nil
    }
}
