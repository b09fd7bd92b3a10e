/// Replaces the password of the account whose address was proved, and ends all its sessions.
///
/// It opens no session, and changes nothing else.
package struct ResetPassword: Sendable {
    /// The proof of the address.
    package let proof: Proof
    package let password: NewPassword

    /// Requests a reset.
    package init(_ proof: Proof, password: NewPassword) {
        self.proof = proof
        self.password = password
    }

    func decide(given state: DecisionState, under policy: TenantPolicy) -> Decision {
        guard policy.providers[proof.subject.provider] != nil else {
            return .refused(.unsupportedProvider)
        }
        // The code is good for the password that the account had when it was sent.
        guard state.isCurrent(proof), let address = proof.address,
            state.holding(address.names)?.isClaimed == false,
            let identity = state.identity(provedBy: proof),
            let holder = state.ledger.identities[identity]?.account,
            let account = state.ledger.accounts[holder]
        else { return .refused(.invalidCode) }
        guard account.disabledPosition == nil else { return .refused(.accountDisabled) }
        let fact = PasswordSet(account: holder, identity: identity, cause: .reset)
        return Decision(
            .success(.passwordReset(account.linkedProviders)),
            drafts: [.init(.passwordSet(fact), actor: .account(holder, session: nil))],
            effects: proof.used + [
                .passwordStored(identity, password),
                .challengesEnded(address.names),
                .challengesEndedOf(state.ledger.absorbed(by: holder)),
            ])
    }
}

extension ResetPassword: LedgerRequest {
    package var intent: Command.Intent { .resetPassword(self) }

    /// Returns the account's providers in linking order.
    package static func success(in reply: Reply) -> [ProviderName]? {
        guard case .passwordReset(let providers) = reply else { return nil }
        return providers
    }
}
