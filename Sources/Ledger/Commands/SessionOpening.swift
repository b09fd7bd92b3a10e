/// The opening of a session: its event, its first refresh token, and the data for its access tokens.
struct SessionOpening {
    let draft: Decision.Draft
    let effect: Decision.Effect
    let grant: Grant

    /// Opens a session.
    ///
    /// - Parameters:
    ///   - fact: The event.
    ///   - providers: The account's providers in linking order.
    ///   - refreshToken: The digest of the first refresh token.
    ///   - disclosures: The disclosures of the event.
    ///   - now: The time of the command.
    ///   - policy: The tenant's rules.
    init(
        _ fact: SignedIn, providers: [ProviderName], refreshToken: Digest,
        disclosures: [Disclosure] = [], at now: Timestamp, under policy: TenantPolicy
    ) {
        draft = Decision.Draft(
            .signedIn(fact), actor: .account(fact.account, session: fact.session),
            disclosures: disclosures)
        effect = .refreshTokens(
            fact.session,
            RefreshTokenState(
                current: refreshToken, preceding: nil, generation: 0,
                expiresAt: now.adding(
                    seconds: min(policy.sessionIdleSeconds, policy.sessionLifetimeSeconds))))
        grant = Grant(
            account: fact.account, session: fact.session, authenticatedAt: fact.authenticatedAt,
            methods: fact.methods, linkedProviders: providers, openedAt: now)
    }
}
