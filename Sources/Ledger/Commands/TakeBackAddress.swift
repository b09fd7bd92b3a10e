/// Returns a former address to its account in place of the one that replaced it, and ends all sessions.
///
/// It opens no session.
package struct TakeBackAddress: Sendable {
    /// The proof of the former address, by a code that was sent for this.
    package let proof: Proof
    /// The new password of the identity that has one with the address, if there is one: the person who changed the
    /// address may know the present one.
    package let password: NewPassword?

    /// Requests the return of an address.
    package init(_ proof: Proof, password: NewPassword?) {
        self.proof = proof
        self.password = password
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let provider = proof.subject.provider
        guard policy.providers[provider] != nil, let address = proof.address else {
            return .refused(.unsupportedProvider)
        }
        guard state.isCurrent(proof), let former = state.holding(address.names),
            former.isKept(at: now),
            let present = former.formerOf.flatMap({ state.ledger.addresses[$0] }),
            let identity = state.subject(present, provider).flatMap({ state.directory[$0] }),
            let holder = state.ledger.identities[identity]?.account,
            let account = state.ledger.accounts[holder]
        else { return .refused(.invalidCode) }
        // The return opens nothing, so it is possible while the account is disabled: the seven days go on.
        let actor = Actor.account(holder, session: nil)
        let fact = AddressChanged(
            account: former.account, survivor: former.account == holder ? nil : holder,
            address: present.id, former: former.id, kind: former.kind, cause: .takenBack)
        var drafts = [
            Decision.Draft(
                .addressChanged(fact), actor: actor,
                disclosures: [Disclosure(address.kind.disclosure, address.text)])
        ]
        var effects = proof.used
        if let withPassword = state.passwordIdentity(at: present, of: account, under: policy) {
            guard let password else { return .refused(.invalidPassword) }
            let fact = PasswordSet(account: holder, identity: withPassword, cause: .reset)
            drafts.append(.init(.passwordSet(fact), actor: actor))
            effects.append(.passwordStored(withPassword, password))
        }
        return Decision(
            .success(.addressTakenBack(account.linkedProviders)), drafts: drafts,
            effects: effects + [
                .challengesEndedOf(state.ledger.absorbed(by: holder)),
                .addressNamed(address.newName, present.id),
            ])
    }
}

extension TakeBackAddress: LedgerRequest {
    package var intent: Command.Intent { .takeBackAddress(self) }

    /// Returns the account's providers in linking order.
    package static func success(in reply: Reply) -> [ProviderName]? {
        guard case .addressTakenBack(let providers) = reply else { return nil }
        return providers
    }
}
