/// Exchanges a refresh token that this ledger issued for its successor.
package struct RefreshSession: Sendable {
    package let session: SessionID
    /// The digest of the presented token.
    package let presented: Digest
    /// The digest of the successor that is issued if the exchange succeeds.
    package let successor: Digest
    /// The successor, sealed with the presented token.
    package let sealedSuccessor: [UInt8]

    /// Requests an exchange; the token must be known to be issued by this ledger.
    package init(
        session: SessionID, presented: Digest, successor: Digest, sealedSuccessor: [UInt8]
    ) {
        self.session = session
        self.presented = presented
        self.successor = successor
        self.sealedSuccessor = sealedSuccessor
    }

    /// The current token is exchanged; within the grace time the preceding one returns the same
    /// successor again; any other is the second use of a stolen token and ends the family.
    func decide(
        given state: DecisionState, at now: Timestamp, under policy: TenantPolicy
    ) -> Decision {
        guard let session = state.ledger.sessions[session], session.endedPosition == nil,
            let account = state.ledger.accounts[session.account],
            let tokens = state.refreshTokens[session.id], now < tokens.expiresAt
        else { return .refused(.invalidRefreshToken) }
        let grant = Grant(
            account: account.id, session: session.id, authenticatedAt: session.authenticatedAt,
            methods: session.methods, linkedProviders: account.linkedProviders)
        if presented == tokens.current {
            let idle = now.adding(seconds: policy.sessionIdleSeconds)
            let end = session.openedAt.adding(seconds: policy.sessionLifetimeSeconds)
            let next = RefreshTokenState(
                current: successor,
                preceding: RefreshTokenState.Preceding(
                    digest: presented, sealedSuccessor: sealedSuccessor, exchangedAt: now),
                generation: tokens.generation &+ 1, expiresAt: min(idle, end))
            return Decision(
                .success(.refreshed(grant, .fresh)), effects: [.refreshTokens(session.id, next)])
        }
        if let preceding = tokens.preceding, presented == preceding.digest,
            preceding.isRecent(at: now, withinSeconds: policy.refreshGraceSeconds)
        {
            let sealed = preceding.sealedSuccessor
            return Decision(.success(.refreshed(grant, .repeated(sealedSuccessor: sealed))))
        }
        let fact = SessionRevoked(
            account: account.id, reason: .refreshTokenReused, session: session.id)
        return Decision(
            .failure(.invalidRefreshToken),
            drafts: [.init(.sessionRevoked(fact), actor: .system)])
    }
}

extension RefreshSession: LedgerRequest {
    /// The continued session.
    package struct Success: Hashable, Sendable {
        package let grant: Grant
        package let exchange: RefreshTokenState.Exchange
    }

    package var intent: Command.Intent { .refreshSession(self) }

    /// Returns the result in a reply to the command.
    package static func success(in reply: Reply) -> Success? {
        guard case .refreshed(let grant, let exchange) = reply else { return nil }
        return Success(grant: grant, exchange: exchange)
    }
}
