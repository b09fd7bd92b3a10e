/// Imports the password and the address that an account holder had in a former system.
///
/// The account is the one that has the address, or the one of a known identity; without either a new one is
/// opened. It opens no session. An account keeps a password that it has, and stays without one that it gave up.
package struct ImportPassword: Sendable {
    /// Proves the address by the word of the former system, and has the password.
    package let proof: Proof
    /// The identity whose account gets the password; nil for the account of the address.
    package let holder: Subject?
    package let actor: Actor
    /// The ids for a new account and a new identity.
    package let newAccount: AccountID
    package let newIdentity: IdentityID

    /// Requests an import.
    package init(
        _ proof: Proof, holder: Subject?, actor: Actor, newAccount: AccountID,
        newIdentity: IdentityID
    ) {
        self.proof = proof
        self.holder = holder
        self.actor = actor
        self.newAccount = newAccount
        self.newIdentity = newIdentity
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let provider = proof.subject.provider
        guard policy.providers[provider]?.type == .password, let address = proof.address else {
            return .refused(.unsupportedProvider)
        }
        var account: Account?
        if let holder {
            if state.isAnonymous(holder.provider, under: policy) {
                return .refused(.unsupportedProvider)
            }
            let identity = state.directory[holder]
            account = identity.flatMap { state.ledger.identities[$0]?.account }
                .flatMap { state.ledger.accounts[$0] }
            if account == nil { return .refused(.accountNotFound) }
        }
        switch state.standing(of: address, at: now, under: policy) {
        case .held(let held, let keeper) where held.isClaimed:
            // The operator has to learn that another one claims the address that the other system has confirmed.
            guard account?.id == keeper.id else {
                return .refused(.providerConflict(.heldByOther))
            }
            return Decision(.success(.passwordImported(held.account, .kept)))
        case .held(let held, let keeper)
        where held.formerOf != nil && account?.id ?? keeper.id == keeper.id:
            return Decision(.success(.passwordImported(held.account, .kept)))
        case .held(_, let keeper):
            guard account == nil || account?.id == keeper.id else {
                return .refused(.providerConflict(.heldByOther))
            }
            account = keeper
        case .free(let former?)
        where !former.isClaimed || state.ledger.root(of: former.account) == account?.id:
            // An import proves no address, so it takes none from an account that no longer uses it, unless another
            // account had only claimed it.
            return Decision(.success(.passwordImported(former.account, .kept)))
        case .free: break
        }
        let target = account?.id ?? newAccount
        let subject = state.subject(of: proof, at: now, under: policy)
        if let account,
            account.linkedProviders.contains(provider) || state.directory[subject] != nil
        {
            return Decision(.success(.passwordImported(account.id, .kept)))
        }
        guard account?.disabledPosition == nil else { return .refused(.accountDisabled) }
        let fact = ProviderLinked(
            account: target, identity: newIdentity, provider: provider, cause: .imported)
        let opened = AccountOpened(account: target, cause: .imported)
        let confirmation = state.confirmation(
            by: proof, for: target, actor, cause: .imported, at: now, under: policy)
        let password = proof.passwordSet(.imported, of: newIdentity, for: target, by: actor)
        return Decision(
            .success(.passwordImported(target, account == nil ? .opened : .added)),
            drafts: (account == nil ? [.init(.accountOpened(opened), actor: actor)] : [])
                + [
                    .init(
                        .providerLinked(fact), actor: actor,
                        disclosures: [Disclosure(.providerID, subject.providerID)])
                ] + confirmation.drafts + password.drafts,
            effects: [.identityNamed(subject, newIdentity)] + confirmation.effects
                + password.effects)
    }
}

extension ImportPassword: LedgerRequest {
    /// The effect of an import on its account.
    package enum Effect: String, Hashable, Sendable {
        /// A new account was opened.
        case opened
        /// An existing account got the password.
        case added
        /// The account has or had one, or gave up the address.
        case kept
    }

    /// The account of an import.
    package struct Success: Hashable, Sendable {
        package let account: AccountID
        package let effect: Effect
    }

    package var intent: Command.Intent { .importPassword(self) }

    /// Returns the account in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        guard case .passwordImported(let account, let effect) = reply else { return nil }
        return Success(account: account, effect: effect)
    }
}
