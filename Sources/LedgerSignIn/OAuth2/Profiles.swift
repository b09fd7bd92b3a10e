internal import JSON
internal import Ledger

/// Reads the profile of an access token at X, which does not say for which client it made one.
struct XProfile: TokenInspector {
    let comparesClient = false
    let api: ProviderAPI

    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken {
        let answer = try await api.call(
            "/2/users/me", authorization: "Bearer \(token)", refusals: [401, 403])
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
        let answer = try await api.call(
            "/v2/userinfo", authorization: "Bearer \(token)", refusals: [401, 403])
        guard let members = answer.members, let person = members["sub"]?.string else {
            throw .invalid
        }
        let isVerified = members["email_verified"] == .bool(true)
        return InspectedToken(
            subject: person, issuedAt: nil,
            email: members["email"]?.string.map { Email($0, isVerified: isVerified) })
    }
}
