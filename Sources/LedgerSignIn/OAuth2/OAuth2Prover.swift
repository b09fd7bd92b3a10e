internal import Ledger
internal import OpenID

/// Proves the subjects of an OAuth 2.0 provider by its access tokens.
///
/// A bare access token says nothing about the client it was made for, and another app's token must not
/// open an account here. So a client's token counts only where the provider tells the client of a token and
/// the inspector compares it; at other providers, only one that a browser flow got.
struct OAuth2Prover {
    let provider: ProviderName
    let settings: OAuth2Settings

    /// The accepted difference between the provider's clock and this one.
    private static let leewaySeconds: Int64 = 60

    /// Inspects an access token at the provider.
    ///
    /// - Throws: `invalid` for a token that proves nothing, `unavailable` without the provider's
    ///   answer, `limited` after too many refused ones.
    func prove(
        _ body: OAuth2Body, by client: CodeClient?, in tenant: TenantID, for purpose: ProofPurpose,
        at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        guard settings.inspector.comparesClient, body.isWellFormed else { throw .invalid }
        let token = try await client.asking(in: tenant, at: now) {
            () async throws(Credential.Flaw) in
            try await settings.inspector.inspect(body.accessToken, at: now.seconds)
        }
        guard isRecentEnough(token, for: purpose) else { throw .invalid }
        // Without any time the person may have authenticated long ago.
        return try proof(token, authenticatedAt: token.statedTime ?? 0, at: now)
    }

    /// Inspects an access token that the provider has just given to this service, in a browser flow.
    ///
    /// - Throws: as ``prove(_:for:at:)``.
    func proveOwn(_ body: OAuth2Body, at now: Timestamp) async throws(Credential.Flaw) -> Proof {
        guard body.isWellFormed else { throw .invalid }
        let token = try await settings.inspector.inspect(body.accessToken, at: now.seconds)
        return try proof(token, authenticatedAt: token.statedTime ?? now.seconds, at: now)
    }

    private func proof(
        _ token: InspectedToken, authenticatedAt time: Int64, at now: Timestamp
    ) throws(Credential.Flaw) -> Proof {
        guard let subject = Subject(provider: provider, providerID: token.subject),
            token.issuedAt ?? 0 <= now.seconds + Self.leewaySeconds
        else { throw .invalid }
        // Otherwise dropped, as that of an ID token: a text that Postgres refuses would stop the read model.
        let email = token.email.flatMap { $0.address.isStatableEmail ? $0 : nil }
        return Proof(
            subject, authenticatedAt: Timestamp(seconds: min(max(time, 0), now.seconds)),
            methods: .federated, email: email)
    }

    /// Whether a token, which cannot carry a plan's digest, was issued after the plan was shown; times
    /// of tokens are whole seconds.
    private func isRecentEnough(_ token: InspectedToken, for purpose: ProofPurpose) -> Bool {
        guard case .merge(_, let shownAt?) = purpose else { return true }
        return token.issuedAt.map { $0 > shownAt.seconds } ?? false
    }
}
