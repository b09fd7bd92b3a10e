/// An account holder's agreement to a change that ends all sessions of the account, and the new session that the
/// account holder gets.
package struct SessionRenewal: Sendable {
    package let caller: Caller
    /// The password, as it was checked; nil for a session that began a short time ago.
    package let password: PasswordVersion?
    /// The digest of the new session's first refresh token.
    package let refreshToken: Digest
    package let newSession: SessionID

    /// Describes an agreement.
    package init(
        caller: Caller, password: PasswordVersion?, refreshToken: Digest, newSession: SessionID
    ) {
        self.caller = caller
        self.password = password
        self.refreshToken = refreshToken
        self.newSession = newSession
    }

    /// Returns the account and the opening of the new session; or the refusal of the agreement.
    ///
    /// The new session discloses the new e-mail of a changed identity that opens it, as a sign-in with it would.
    func check(
        in state: DecisionState, disclosing email: Email? = nil, of changed: IdentityID? = nil,
        at now: Timestamp, under policy: TenantPolicy
    ) -> Result<(account: Account, opening: SessionOpening), Refusal> {
        guard let account = state.account(of: caller, at: now),
            let session = state.ledger.sessions[caller.session],
            let opener = account.links.first(where: {
                $0.identity == password?.identity ?? session.identity
            }) ?? account.links.first
        else { return .failure(.sessionEnded) }
        if let password {
            guard opener.identity == password.identity, state.isCurrent(password) else {
                return .failure(.invalidPassword)
            }
        } else {
            guard policy.isRecent(session.authenticatedAt, at: now) else {
                return .failure(.reauthenticationRequired)
            }
        }
        guard !state.lacksSecondFactor(caller, at: now, under: policy) else {
            return .failure(.reauthenticationRequired)
        }
        // The new session lacks a second factor, whose time would otherwise start again.
        let opening = SessionOpening(
            SignedIn(
                account: account.id,
                authenticatedAt: password == nil ? min(session.authenticatedAt, now) : now,
                identity: opener.identity,
                methods: password == nil ? session.methods.withoutSecondFactor : .password,
                provider: opener.provider, session: newSession),
            providers: account.linkedProviders, refreshToken: refreshToken,
            disclosures: opener.identity == changed ? email?.disclosures ?? [] : [],
            at: now, under: policy)
        return .success((account, opening))
    }

    /// The actor of the change.
    var actor: Actor { .account(caller.account, session: caller.session) }
}
