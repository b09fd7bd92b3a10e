internal import Encodings
internal import JSON
internal import Ledger

/// Inspects access tokens of any provider with token introspection (RFC 7662).
///
/// The answer must name the client and the person, which the RFC leaves to the provider. A service that the
/// client calls receives its tokens, too, and could present them here: so an audience or a scope that only tokens
/// for this purpose have can be required.
struct IntrospectionInspector: TokenInspector {
    let api: ProviderAPI
    let client: String
    let secret: String
    let issuer: String
    /// A value of `aud` that the token must have; nil for any.
    let audience: String?
    /// A word of `scope` that the token must have; nil for any.
    let scope: String?

    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken {
        let form = "token=\(PercentEncoding.encode(token))&token_type_hint=access_token"
        let answer = try await api.call(
            "", authorization: ProviderAPI.basic(client, secret),
            body: (Array(form.utf8), "application/x-www-form-urlencoded"))
        guard let members = answer.members, case .bool(let isActive)? = members["active"] else {
            throw .unavailable
        }
        guard isActive, let named = members["client_id"]?.string, named.isExactly(client),
            let person = members["sub"]?.string, isForThisPurpose(members)
        else { throw .invalid }
        if let end = try members.time("exp"), end <= now { throw .invalid }
        var isVerified = false
        if case .bool(true)? = members["email_verified"] { isVerified = true }
        return InspectedToken(
            subject: person, issuedAt: try members.time("iat"),
            authenticatedAt: try members.time("auth_time"),
            email: members["email"]?.string.map { Email($0, isVerified: isVerified) })
    }

    private func isForThisPurpose(_ members: JSONMembers) -> Bool {
        if let named = members.present("iss"), named.string?.isExactly(issuer) != true {
            return false
        }
        if let audience {
            let named = members["aud"]?.array ?? [members["aud"]].compactMap(\.self)
            guard named.contains(where: { $0.string?.isExactly(audience) == true }) else {
                return false
            }
        }
        guard let scope else { return true }
        let words = (members["scope"]?.string ?? "").split(separator: " ")
        return words.contains { String($0).isExactly(scope) }
    }
}
