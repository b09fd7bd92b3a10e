package import Cryptography
package import Ledger

/// Makes and checks access tokens: our own JWTs of the type `at+jwt` (RFC 9068), signed with ES256.
///
/// A token is good for one tenant and for one session, which its use must find alive. Others may
/// check it by the published keys.
package final class AccessTokens: Sendable {
    /// How long a token is good, in seconds, unless configured otherwise.
    package static let lifetimeSecondsDefault: Int64 = 600
    /// The longest token that is looked at, in bytes; ours are far below.
    static let bytesMax = 4096
    /// How far the clocks of two processes may differ, in seconds.
    static let leewaySeconds: Int64 = 60
    static let type = "at+jwt"

    /// How long a token is good, in seconds.
    package let lifetimeSeconds: Int64
    /// The public keys as a JSON Web Key Set (RFC 7517, section 5).
    package let publishedKeys: [UInt8]

    private let signer: TokenSigner
    private let checker: AccessTokenChecker
    private let known = KnownTokens()
    private let issuer: String
    private let audience: String

    /// Prepares keys.
    ///
    /// - Parameters:
    ///   - issuer: the tokens' `iss`.
    ///   - audience: the tokens' `aud`.
    ///   - current: signs new tokens.
    ///   - former: keys whose tokens are still accepted, because they may not have expired.
    ///   - lifetimeSeconds: how long a token is good; 1 s to 24 h.
    package init(
        issuer: String, audience: String, current: TokenSigningKey, former: [TokenSigningKey] = [],
        lifetimeSeconds: Int64 = AccessTokens.lifetimeSecondsDefault
    ) {
        precondition((1...86_400).contains(lifetimeSeconds), "a token lives 1 s to 24 h")
        self.issuer = issuer
        self.audience = audience
        self.lifetimeSeconds = lifetimeSeconds
        signer = current.signer(type: Self.type)
        let keys = [current] + former.filter { $0.keyID != current.keyID }
        publishedKeys = Array("{\"keys\":[\(keys.map(\.publicJWK).joined(separator: ","))]}".utf8)
        checker = AccessTokenChecker(
            issuer: issuer, audience: audience, keys: KeySet(keys.map(\.verificationKey)))
    }

    /// Makes a token for a session; it is known from then on.
    package func issue(for grant: Grant, in tenant: TenantID, at now: Timestamp) -> String {
        let claims = AccessTokenClaims(
            caller: Caller(account: grant.account, session: grant.session), tenant: tenant,
            authenticatedAt: grant.authenticatedAt.seconds, issuedAt: now.seconds,
            expiresAt: now.seconds + lifetimeSeconds)
        let token = signer.sign(claims.payload(issuer: issuer, audience: audience))
        known.remember(claims, of: token)
        return token
    }

    /// Says who asks; nil unless the token is one of ours, for this tenant and good now.
    ///
    /// The signature of a token that this process has issued or checked is not checked again.
    /// Whether the session lives is the ledger's to say.
    package func check(
        _ token: String, for tenant: TenantID, at now: Timestamp
    ) -> AccessTokenClaims? {
        guard token.utf8.count <= Self.bytesMax else { return nil }
        if let claims = known.claims(of: token) {
            return claims.areGood(for: tenant, at: now) ? claims : nil
        }
        guard let claims = checker.claims(of: token), claims.areGood(for: tenant, at: now) else {
            return nil
        }
        known.remember(claims, of: token)
        return claims
    }
}
