/// Opens a session for a proved subject, and an account when its identity has none.
package struct SignIn: Sendable {
    package let proof: Proof
    /// The second step; nil in the first one.
    package let secondFactor: SecondFactorProof?
    /// Whether the account holder is told of a sign-in from a device that the account did not know.
    package let isNewDevice: Bool
    /// Whether an account is opened for an identity without one.
    package let createAccount: Bool
    /// The digest of the session's first refresh token.
    package let refreshToken: Digest
    /// The ids for a new account, identity and session.
    package let newAccount: AccountID
    package let newIdentity: IdentityID
    package let newSession: SessionID

    /// Requests a session.
    package init(
        _ proof: Proof, secondFactor: SecondFactorProof? = nil, isNewDevice: Bool = false,
        createAccount: Bool, refreshToken: Digest, newAccount: AccountID,
        newIdentity: IdentityID, newSession: SessionID
    ) {
        self.proof = proof
        self.secondFactor = secondFactor
        self.isNewDevice = isNewDevice
        self.createAccount = createAccount
        self.refreshToken = refreshToken
        self.newAccount = newAccount
        self.newIdentity = newIdentity
        self.newSession = newSession
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let subject = proof.subject
        guard policy.providers[subject.provider] != nil else {
            return .refused(.unsupportedProvider)
        }
        var spent: [Decision.Effect] = []
        if let singleUse = proof.singleUse {
            if let first = state.spentIDTokens[singleUse.digest] {
                guard now < first.adding(seconds: SingleUseIDToken.retrySeconds) else {
                    return .refused(.invalidProviderToken)
                }
            } else {
                spent = [.idTokenSpent(singleUse, now)]
            }
        }
        guard state.isCurrent(proof) else {
            return .refused(proof.staleRefusal)
        }
        if proof.isClaim, let refusal = refusal(ofClaimIn: state, under: policy) {
            return .refused(refusal)
        }
        let lost = state.lostAddress(to: proof, at: now, under: policy)
        if let lost, lost.isHandedOver {
            return takeOver(lost, in: state, at: now, under: policy)
        }
        // The prover gets no identity of the account that loses the address.
        let known = lost == nil ? state.identity(provedBy: proof) : nil
        // A sign-up signs in to no account that got the address in the meantime.
        let isLinked = known.map { state.ledger.identities[$0]?.account != nil } ?? false
        if proof.isRegistration, isLinked { return .refused(proof.staleRefusal) }
        let holder = known.flatMap { state.ledger.identities[$0]?.account }
        if let known, let used = state.signIns[known], used.count >= policy.signInBudget.limit {
            return .refused(
                .rateLimited(
                    retryAfterSeconds: policy.signInBudget.secondsUntilFree(
                        since: used.earliest, at: now)))
        }
        if let holder, let account = state.ledger.accounts[holder], let known {
            guard account.disabledPosition == nil else { return .refused(.accountDisabled) }
            // The second step itself refuses an account that has lost its factors since the first one.
            guard
                secondFactor != nil
                    || !state.provesUnusedNumber(proof, of: account, at: now, under: policy)
            else { return .refused(.addressUnused) }
            switch secondStep(for: account, known, in: state, at: now, under: policy) {
            case .refused(let decision): return decision
            case .passed(let drafts, let effects, let methods):
                // A password alone confirms nothing.
                let confirmation =
                    proof.provesAddress
                    ? state.confirmation(
                        by: proof, for: account.id, .account(account.id, session: newSession),
                        at: now, under: policy) : (drafts: [], effects: [])
                return open(
                    account: account.id, identity: known, providers: account.linkedProviders,
                    methods: methods, before: drafts + confirmation.drafts,
                    effects: spent + proof.used + effects + confirmation.effects,
                    isNewUser: false, at: now, under: policy)
            }
        }
        // An anonymous identity that ended opens nothing any more.
        let isAnonymous = state.isAnonymous(subject.provider, under: policy)
        guard createAccount, known == nil || !isAnonymous else {
            return .refused(.accountNotFound)
        }
        // An address that its account uses otherwise, or may need again, opens nothing.
        if lost == nil, let address = proof.address,
            case .held = state.standing(of: address, at: now, under: policy)
        {
            return .refused(.accountNotFound)
        }
        // A new holder of an address gets an identity of its own.
        let isNew = known == nil || proof.address != nil
        let identity = isNew ? newIdentity : known ?? newIdentity
        let actor = Actor.account(newAccount, session: newSession)
        let password = proof.passwordSet(.signUp, of: identity, for: newAccount, by: actor)
        let confirmation = state.confirmation(
            by: proof, for: newAccount, actor, at: now, under: policy)
        return open(
            account: newAccount, identity: identity, providers: [subject.provider],
            methods: proof.methods,
            before: [
                .init(
                    .accountOpened(
                        AccountOpened(
                            account: newAccount, cause: isAnonymous ? .anonymous : .signUp)),
                    actor: actor),
                .init(
                    .providerLinked(
                        ProviderLinked(
                            account: newAccount, identity: identity, provider: subject.provider,
                            cause: isAnonymous ? .anonymous : .signUp)),
                    actor: actor, disclosures: [Disclosure(.providerID, subject.providerID)]),
            ] + confirmation.drafts + password.drafts,
            effects: spent + proof.used + (isNew ? [.identityNamed(subject, identity)] : [])
                + confirmation.effects + password.effects,
            isNewUser: true,
            at: now, under: policy)
    }

    /// Returns the refusal of a sign-up whose address is confirmed later: only one that no account has is claimed.
    private func refusal(ofClaimIn state: DecisionState, under policy: TenantPolicy) -> Refusal? {
        guard policy.confirmLater, let address = proof.address else { return .invalidCode }
        return state.holding(address.names) == nil ? nil : .providerConflict(.heldByOther)
    }

    func open(
        account: AccountID, identity: IdentityID, providers: [ProviderName],
        methods: AuthenticationMethods, before: [Decision.Draft], effects: [Decision.Effect],
        isNewUser: Bool, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        let opening = SessionOpening(
            SignedIn(
                account: account, authenticatedAt: min(proof.authenticatedAt, now),
                device: isNewDevice && !isNewUser ? .new : nil, identity: identity,
                methods: methods, provider: proof.subject.provider, session: newSession),
            providers: providers, refreshToken: refreshToken,
            disclosures: proof.email?.disclosures ?? [], at: now, under: policy)
        return Decision(
            .success(.signedIn(opening.grant, isNewUser: isNewUser)),
            drafts: before + [opening.draft], effects: effects + [opening.effect])
    }
}

extension Budget {
    /// Returns the whole seconds until an event of that time leaves the window; at least 1.
    ///
    /// Never more than the window, even when that time is in the future after a clock was set back.
    func secondsUntilFree(since earliest: Timestamp, at now: Timestamp) -> Int64 {
        let free = earliest.adding(seconds: windowSeconds).microseconds - now.microseconds
        return min(max(1, (free + 999_999) / 1_000_000), max(1, windowSeconds))
    }
}

extension SignIn: LedgerRequest {
    /// The opened session.
    package struct Success: Hashable, Sendable {
        package let grant: Grant
        /// Whether the sign-in opened an account.
        package let isNewUser: Bool
    }

    package var intent: Command.Intent { .signIn(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        guard case .signedIn(let grant, let isNewUser) = reply else { return nil }
        return Success(grant: grant, isNewUser: isNewUser)
    }
}
