/// Replaces the password of the caller's account, ends all sessions, and opens a new one for the caller.
package struct ChangePassword: Sendable {
    package let caller: Caller
    /// The former password, as it was checked; nil for a session that began a short time ago.
    package let former: PasswordVersion?
    package let password: NewPassword
    /// The digest of the new session's first refresh token.
    package let refreshToken: Digest
    package let newSession: SessionID

    /// Requests a change.
    package init(
        caller: Caller, former: PasswordVersion?, password: NewPassword, refreshToken: Digest,
        newSession: SessionID
    ) {
        self.caller = caller
        self.former = former
        self.password = password
        self.refreshToken = refreshToken
        self.newSession = newSession
    }

    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        guard let account = state.account(of: caller, at: now),
            let session = state.ledger.sessions[caller.session]
        else { return .refused(.sessionEnded) }
        let link = account.links.first { policy.providers[$0.provider]?.type == .password }
        guard let link else { return .refused(.providerNotLinked) }
        if let former {
            guard former.identity == link.identity, state.isCurrent(former) else {
                return .refused(.invalidPassword)
            }
        } else {
            guard policy.isRecent(session.authenticatedAt, at: now) else {
                return .refused(.reauthenticationRequired)
            }
        }
        guard !state.lacksSecondFactor(caller, at: now, under: policy) else {
            return .refused(.reauthenticationRequired)
        }
        let opener =
            former == nil ? account.links.first { $0.identity == session.identity } ?? link : link
        // The new session lacks a second factor, whose time would otherwise start again.
        let opening = SessionOpening(
            SignedIn(
                account: account.id,
                authenticatedAt: former == nil ? min(session.authenticatedAt, now) : now,
                identity: opener.identity,
                methods: former == nil ? session.methods.withoutSecondFactor : .password,
                provider: opener.provider, session: newSession),
            providers: account.linkedProviders, refreshToken: refreshToken, at: now, under: policy)
        let fact = PasswordSet(account: account.id, identity: link.identity, cause: .change)
        return Decision(
            .success(.passwordChanged(opening.grant)),
            drafts: [
                .init(
                    .passwordSet(fact),
                    actor: .account(account.id, session: caller.session)),
                opening.draft,
            ],
            effects: [
                .passwordStored(link.identity, password), opening.effect,
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
