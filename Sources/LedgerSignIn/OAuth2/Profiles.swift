internal import JSON
internal import Ledger

/// Reads the profile of an access token at X, which does not say for which client it made one.
struct XProfile: TokenInspector {
    let comparesClient = false
    let api: ProviderAPI

    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken {
        let answer = try await api.profile("/2/users/me", of: token)
        guard let person = answer.members?["data"]?.members?["id"]?.string else { throw .invalid }
        return InspectedToken(subject: person, issuedAt: nil, email: nil)
    }
}

/// Reads the profile of an access token at LinkedIn, which does not say for which client it made one (OpenID
/// Connect Core 1.0, section 5.3).
struct LinkedInProfile: TokenInspector {
    let comparesClient = false
    let api: ProviderAPI

    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken {
        let answer = try await api.profile("/v2/userinfo", of: token)
        guard let members = answer.members, let person = members["sub"]?.string else {
            throw .invalid
        }
        let isVerified = members["email_verified"] == .bool(true)
        return InspectedToken(
            subject: person, issuedAt: nil,
            email: members["email"]?.string.map { Email($0, isVerified: isVerified) })
    }
}

extension ProviderAPI {
    /// Reads the profile of the person who authorized an access token.
    fileprivate func profile(
        _ path: String, of token: String
    ) async throws(Credential.Flaw) -> JSONValue {
        try await call(path, authorization: "Bearer \(token)", refusals: [401, 403])
    }
}
