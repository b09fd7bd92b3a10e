/// Replaces the password of the caller's account, ends all sessions, and opens a new one for the caller.
package struct ChangePassword: Sendable {
    package let renewal: SessionRenewal
    package let password: NewPassword

    /// Requests a change.
    package init(_ renewal: SessionRenewal, to password: NewPassword) {
        self.renewal = renewal
        self.password = password
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let (account, opening): (Account, SessionOpening)
        switch renewal.check(in: state, at: now, under: policy) {
        case .failure(let refusal): return .refused(refusal)
        case .success(let checked): (account, opening) = checked
        }
        let link = account.links.first { policy.providers[$0.provider]?.type == .password }
        guard let link else { return .refused(.providerNotLinked) }
        let fact = PasswordSet(account: account.id, identity: link.identity, cause: .change)
        return Decision(
            .success(.passwordChanged(opening.grant)),
            drafts: [.init(.passwordSet(fact), actor: renewal.actor), opening.draft],
            effects: [
                .passwordStored(link.identity, password), opening.effect,
                .challengesEndedOf(state.ledger.absorbed(by: account.id)),
            ])
    }
}

extension ChangePassword: LedgerRequest {
    package var intent: Command.Intent { .changePassword(self) }

    /// Returns the new session in a reply to the command.
    package static func success(in reply: Reply) -> Grant? {
        guard case .passwordChanged(let grant) = reply else { return nil }
        return grant
    }
}
