internal import Encodings
internal import FoundationEssentials
internal import JSON
internal import Ledger

/// Inspects access tokens of GitHub, of OAuth apps and of GitHub apps, by the endpoint that checks a token
/// for the app that it belongs to.
///
/// The e-mail is the primary one, and only if the token's scopes show it.
struct GitHubInspector: TokenInspector {
    private static let scopesOfEmails: Set<String> = ["user", "user:email"]

    let api: ProviderAPI
    let client: String
    let secret: String

    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken {
        var body = JSONWriter()
        body.object { $0.member("access_token", token) }
        let answer = try await api.call(
            "/applications/\(PercentEncoding.encode(client))/token",
            authorization: ProviderAPI.basic(client, secret),
            body: (body.bytes, "application/json"), refusals: [404, 422])
        guard let members = answer.members,
            let app = members["app"]?.members?["client_id"]?.string, app.isExactly(client),
            let person = members["user"]?.members?["id"]?.integer
        else { throw .invalid }
        if let end = try members.time("expires_at", Self.seconds), end <= now { throw .invalid }
        let scopes = members["scopes"]?.array?.compactMap(\.string) ?? []
        return InspectedToken(
            subject: "\(person)", issuedAt: try members.time("created_at", Self.seconds),
            email: Self.scopesOfEmails.isDisjoint(with: scopes) ? nil : try await email(token))
    }

    private func email(_ token: String) async throws(Credential.Flaw) -> Email? {
        let answer: JSONValue
        do {
            answer = try await api.call(
                "/user/emails", authorization: "Bearer \(token)", refusals: [401])
        } catch .unavailable {
            // The app may lack the permission; a sign-in needs no address.
            return nil
        }
        for entry in answer.array ?? [] {
            guard let members = entry.members, case .bool(true)? = members["primary"],
                let address = members["email"]?.string
            else { continue }
            guard case .bool(true)? = members["verified"] else {
                return Email(address, isVerified: false)
            }
            return Email(address, isVerified: true)
        }
        return nil
    }

    /// Returns the seconds since 1970 of a time such as `2011-09-06T17:26:27Z`.
    private static func seconds(_ value: JSONValue) -> Int64? {
        value.string.flatMap { try? Date($0, strategy: .iso8601) }
            .map { Int64($0.timeIntervalSince1970) }
    }
}
