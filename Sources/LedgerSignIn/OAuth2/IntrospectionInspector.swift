internal import JSON
internal import Ledger

/// Inspects access tokens of any provider with token introspection (RFC 7662).
///
/// The answer must name the client and the person, which the RFC leaves to the provider.
struct IntrospectionInspector: TokenInspector {
    let api: ProviderAPI
    let client: String
    let secret: String

    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken {
        let form = "token=\(ProviderAPI.escaped(token))&token_type_hint=access_token"
        let answer = try await api.call(
            "", authorization: ProviderAPI.basic(client, secret),
            body: (Array(form.utf8), "application/x-www-form-urlencoded"))
        guard let members = answer.members, case .bool(let isActive)? = members["active"] else {
            throw .unavailable
        }
        guard isActive, let named = members["client_id"]?.string, named.isExactly(client),
            let person = members["sub"]?.string
        else { throw .invalid }
        if let end = members["exp"]?.integer, end <= now { throw .invalid }
        var isVerified = false
        if case .bool(true)? = members["email_verified"] { isVerified = true }
        return InspectedToken(
            subject: person, issuedAt: members["iat"]?.integer,
            email: members["email"]?.string.map { Email($0, isVerified: isVerified) })
    }
}
