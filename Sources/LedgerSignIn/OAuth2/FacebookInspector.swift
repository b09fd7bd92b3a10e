internal import Cryptography
internal import Encodings
internal import JSON
internal import Ledger

/// Inspects access tokens of Facebook Login by the Graph API: `debug_token` names the app and the person,
/// and `me`, called with `appsecret_proof`, the e-mail.
///
/// Facebook does not say whether an address is verified, so none is.
struct FacebookInspector: TokenInspector {
    let api: ProviderAPI
    let client: String
    let secret: String

    func inspect(
        _ token: String, at now: Int64
    ) async throws(Credential.Flaw) -> InspectedToken {
        let answer = try await api.call(
            "/debug_token?input_token=\(PercentEncoding.encode(token))",
            authorization: "Bearer \(client)|\(secret)")
        guard let data = answer.members?["data"]?.members else { throw .unavailable }
        guard case .bool(true)? = data["is_valid"], data["type"]?.string == "USER",
            let app = data["app_id"]?.identifier, app.isExactly(client),
            let person = data["user_id"]?.identifier
        else { throw .invalid }
        // Zero is a token without an end.
        if let end = try data.time("expires_at"), end != 0, end <= now { throw .invalid }
        let proof = Hex.encode(
            HMACSHA256.mac(key: Array(secret.utf8), Array(token.utf8)))
        let profile = try await api.call(
            "/me?fields=id,email&appsecret_proof=\(proof)", authorization: "Bearer \(token)",
            refusals: [400, 401])
        guard let members = profile.members, let own = members["id"]?.identifier,
            own.isExactly(person)
        else { throw .invalid }
        return InspectedToken(
            subject: person, issuedAt: try data.time("issued_at"),
            email: members["email"]?.string.map { Email($0, isVerified: false) })
    }
}
