import JSON
package import Ledger

/// The claims of a checked access token; times are whole seconds since 1970.
package struct AccessTokenClaims: Hashable, Sendable {
    /// The caller: `sub` and `sid`.
    package let caller: Caller
    /// The tenant that the token is valid for: `tid`.
    package let tenant: TenantID
    /// The time of authentication: `auth_time`; a refresh keeps it.
    package let authenticatedAt: Int64
    /// The time of issue: `iat`.
    package let issuedAt: Int64
    /// The time of expiry: `exp`.
    package let expiresAt: Int64

    /// Checks whether the token is for this tenant and valid at this time.
    func areValid(for tenant: TenantID, at now: Timestamp) -> Bool {
        self.tenant == tenant && now.seconds < expiresAt
            && issuedAt <= now.seconds + AccessTokens.leewaySeconds
    }

    /// Returns the claims as JSON, including those that are only for other verifiers.
    func payload(
        issuer: String, audience: String, methods: AuthenticationMethods, names: TokenNames
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("iss", issuer)
            writer.member("aud", audience)
            writer.member("sub", caller.account.description)
            writer.member("tid", tenant.description)
            writer.member("sid", caller.session.description)
            writer.name("iat")
            writer.number(issuedAt)
            writer.name("exp")
            writer.number(expiresAt)
            writer.name("auth_time")
            writer.number(authenticatedAt)
            writer.name("amr")
            // RFC 8176 has no value for a federated sign-in; `fed` is what others use.
            writer.texts(methods.words)
            names.write(to: &writer)
        }
        return writer.bytes
    }
}
