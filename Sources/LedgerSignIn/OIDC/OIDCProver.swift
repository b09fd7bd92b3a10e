internal import Ledger
internal import OpenID

/// Proves the subjects of an OpenID Connect issuer by its ID tokens.
struct OIDCProver {
    let provider: ProviderName
    let settings: OIDCSettings

    /// Checks an ID token, which must have been issued for the purpose.
    ///
    /// - Throws: `invalid` for a token that proves nothing, `unavailable` without the issuer's keys.
    func prove(
        _ body: OIDCBody, for purpose: ProofPurpose, at now: Timestamp
    ) async throws(Credential.Flaw) -> Proof {
        let claims: IDTokenClaims
        do {
            claims = try await IDTokenChecker(policy: settings.check).check(
                body.idToken, nonce: nonce(body, purpose), keys: settings.keys, now: now.seconds)
        } catch .keysUnavailable {
            throw .unavailable
        } catch {
            throw .invalid
        }
        guard let subject = Subject(provider: provider, providerID: claims.subject),
            isRecentEnough(claims, for: purpose)
        else { throw .invalid }
        let proved = min(max(claims.authTime ?? claims.issuedAt, 0), now.seconds)
        return Proof(
            subject, authenticatedAt: Timestamp(seconds: proved), methods: methods(claims),
            // An address that the provider does not call verified is unverified.
            email: claims.email.map { Email($0, isVerified: claims.emailVerified ?? false) },
            singleUse: singleUse(body, claims, purpose))
    }

    /// Returns the methods, with a second factor if the issuer states one that the provider's settings accept.
    ///
    /// Only if it states the time, too: a token of a session that began long ago is as new as any other one.
    private func methods(_ claims: IDTokenClaims) -> AuthenticationMethods {
        let accepted = claims.methods.filter(settings.secondFactorMethods.contains)
        guard claims.authTime != nil, !accepted.isEmpty else { return .federated }
        return .federated(withSecondFactor: accepted)
    }

    /// Returns the nonce that the token must carry.
    private func nonce(_ body: OIDCBody, _ purpose: ProofPurpose) -> String? {
        switch purpose {
        case .signIn, .link, .mergePreview: body.nonce
        case .merge(let plan, _): plan
        }
    }

    /// Whether a token that cannot carry a plan's digest as its nonce was issued after the plan was
    /// shown; times in tokens are whole seconds.
    private func isRecentEnough(_ claims: IDTokenClaims, for purpose: ProofPurpose) -> Bool {
        guard case .merge(_, let shownAt?) = purpose, settings.check.nonce == .none else {
            return true
        }
        return claims.issuedAt > shownAt.seconds
    }

    private func singleUse(
        _ body: OIDCBody, _ claims: IDTokenClaims, _ purpose: ProofPurpose
    ) -> SingleUseIDToken? {
        guard case .signIn(let tenant, let digests?) = purpose else { return nil }
        return digests.token(
            body.idToken,
            acceptedUntil: Timestamp(seconds: claims.expiresAt + settings.check.leewaySeconds),
            in: tenant)
    }
}
