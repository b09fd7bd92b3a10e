package import Ledger

/// What a checked access token says; the times are whole seconds since 1970.
package struct AccessTokenClaims: Hashable, Sendable {
    /// Who asks: `sub` and `sid`.
    package let caller: Caller
    /// The tenant that the token is good for: `tid`.
    package let tenant: TenantID
    /// When the person proved who they are: `auth_time`; a refresh keeps it.
    package let authenticatedAt: Int64
    /// When the token was made: `iat`.
    package let issuedAt: Int64
    /// When it stops being good: `exp`.
    package let expiresAt: Int64

    /// Whether the token is for this tenant, has begun and has not ended.
    func areGood(for tenant: TenantID, at now: Timestamp) -> Bool {
        self.tenant == tenant && now.seconds < expiresAt
            && issuedAt <= now.seconds + AccessTokens.leewaySeconds
    }

    /// The claims as JSON, with those that nobody here asks a token for.
    func payload(issuer: String, audience: String, methods: AuthenticationMethods) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("iss")
            writer.text(issuer)
            writer.name("aud")
            writer.text(audience)
            writer.name("sub")
            writer.text(caller.account.description)
            writer.name("tid")
            writer.text(tenant.description)
            writer.name("sid")
            writer.text(caller.session.description)
            writer.name("iat")
            writer.number(issuedAt)
            writer.name("exp")
            writer.number(expiresAt)
            writer.name("auth_time")
            writer.number(authenticatedAt)
            writer.name("amr")
            // RFC 8176 has no word for a federated sign-in; `fed` is what others use.
            writer.texts(methods.words)
        }
        return writer.bytes
    }
}
