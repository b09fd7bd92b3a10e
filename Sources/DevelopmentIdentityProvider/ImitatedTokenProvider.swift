package import Cryptography
internal import Encodings
internal import FoundationEssentials
internal import HTTP
internal import JSON

/// An imitated provider of access tokens, with the parts of its interface by which a client inspects a token or
/// reads the profile of one.
///
/// A token is its own record with a MAC, so nothing is stored.
package struct ImitatedTokenProvider: Sendable {
    /// The imitated providers.
    package static let names = ["facebook", "github", "x", "linkedin"]
    /// The secret of the client `DevelopmentIdentityProvider.audience`.
    package static let clientSecret = "dev-secret"

    private static let lifetimeSeconds: Int64 = 3_600

    /// Its name in paths, such as `github`.
    package let name: String
    private let records: SignedRecords

    /// Describes a provider; its tokens hold for every process with the key.
    package init(name: String, key: SymmetricKey) {
        self.name = name
        records = SignedRecords(key: key, domain: name)
    }

    /// The content of a token.
    private struct Grant {
        let name: String
        let email: String?
        let client: String
        let issuedAt: Int64
    }

    /// Mints an access token at a time in seconds since 1970.
    func mint(_ request: TokenRequest, now: Int64) -> String {
        records.sign { writer in
            writer.member("name", request.name)
            writer.member("email", request.email)
            writer.member("client", request.audience)
            writer.name("issued_at")
            writer.number(now)
        }
    }

    private func grant(_ token: String) -> Grant? {
        guard let members = records.read(token),
            let name = members["name"]?.string, let client = members["client"]?.string,
            let issuedAt = members["issued_at"]?.number
        else { return nil }
        return Grant(
            name: name, email: members["email"]?.string, client: client, issuedAt: Int64(issuedAt))
    }

    /// Returns the number of a person: stable, and different for each provider.
    private func subject(of name: String) -> Int64 {
        SHA256.hash(Array("\(self.name)/\(name)".utf8)).prefix(6).reduce(0) { $0 << 8 | Int64($1) }
    }

    /// Answers a call of the provider's interface, whose path follows the provider's name; nil for a path
    /// that it does not have.
    func answer(_ path: Substring, _ request: HTTPRequest, now: Int64) -> HTTPResponse? {
        switch (name, request.method, path) {
        case ("facebook", "GET", "/debug_token"): return debugToken(request, now: now)
        case ("facebook", "GET", "/me"): return profile(request)
        case ("github", "POST", "/applications/\(DevelopmentIdentityProvider.audience)/token"):
            return check(request)
        case ("github", "GET", "/user/emails"): return emails(request)
        case ("x", "GET", "/2/users/me"): return xProfile(request)
        case ("linkedin", "GET", "/v2/userinfo"): return linkedInProfile(request)
        default: return nil
        }
    }

    private func xProfile(_ request: HTTPRequest) -> HTTPResponse {
        guard let grant = bearer(request).flatMap(grant) else {
            return .failure(401, "UNAUTHORIZED", "no such token")
        }
        return .json(200) { writer in
            writer.name("data")
            writer.object { writer in
                writer.member("id", "\(subject(of: grant.name))")
                writer.member("name", grant.name)
            }
        }
    }

    private func linkedInProfile(_ request: HTTPRequest) -> HTTPResponse {
        guard let grant = bearer(request).flatMap(grant) else {
            return .failure(401, "UNAUTHORIZED", "no such token")
        }
        return .json(200) { writer in
            writer.member("sub", "\(subject(of: grant.name))")
            writer.member("email", grant.email)
            writer.name("email_verified")
            writer.flag(true)
        }
    }

    private func debugToken(_ request: HTTPRequest, now: Int64) -> HTTPResponse {
        let app = "\(DevelopmentIdentityProvider.audience)|\(Self.clientSecret)"
        guard bearer(request) == app else { return .failure(400, "190", "not an app's token") }
        guard
            let grant = request.query.first(where: { $0.name == "input_token" })
                .flatMap({ self.grant($0.value) })
        else {
            return .json(200) { writer in
                writer.name("data")
                writer.object { writer in
                    writer.name("is_valid")
                    writer.flag(false)
                }
            }
        }
        let end = grant.issuedAt + Self.lifetimeSeconds
        return .json(200) { writer in
            writer.name("data")
            writer.object { writer in
                writer.member("app_id", grant.client)
                writer.member("type", "USER")
                writer.name("is_valid")
                writer.flag(now < end)
                writer.name("issued_at")
                writer.number(grant.issuedAt)
                writer.name("expires_at")
                writer.number(end)
                writer.member("user_id", "\(subject(of: grant.name))")
            }
        }
    }

    private func profile(_ request: HTTPRequest) -> HTTPResponse {
        let token = bearer(request) ?? ""
        let proof = Hex.encode(
            HMACSHA256.mac(key: Array(Self.clientSecret.utf8), Array(token.utf8)))
        guard let grant = grant(token),
            request.query.contains(where: { $0.name == "appsecret_proof" && $0.value == proof })
        else { return .failure(400, "190", "invalid token or proof") }
        return .json(200) { writer in
            writer.member("id", "\(subject(of: grant.name))")
            writer.member("email", grant.email)
        }
    }

    private func check(_ request: HTTPRequest) -> HTTPResponse {
        let client = "\(DevelopmentIdentityProvider.audience):\(Self.clientSecret)"
        guard request.headers["Authorization"] == "Basic \(Base64.encode(Array(client.utf8)))"
        else { return .failure(401, "UNAUTHORIZED", "not an app") }
        let token = JSONValue(parsing: request.body)?.members?["access_token"]?.string
        // Another app's token is unknown to this one.
        guard let grant = token.flatMap(grant), grant.client == DevelopmentIdentityProvider.audience
        else { return .failure(404, "NOT_FOUND", "no such token") }
        return .json(200) { writer in
            writer.name("app")
            writer.object { $0.member("client_id", grant.client) }
            writer.name("user")
            writer.object { writer in
                writer.name("id")
                writer.number(subject(of: grant.name))
            }
            writer.name("scopes")
            writer.texts(["user:email"])
            writer.member("created_at", Self.time(grant.issuedAt))
            writer.member("expires_at", Self.time(grant.issuedAt + Self.lifetimeSeconds))
        }
    }

    private func emails(_ request: HTTPRequest) -> HTTPResponse {
        guard let grant = bearer(request).flatMap(grant) else {
            return .failure(401, "UNAUTHORIZED", "no such token")
        }
        var writer = JSONWriter()
        writer.array { writer in
            guard let email = grant.email else { return }
            writer.object { writer in
                writer.member("email", email)
                writer.name("primary")
                writer.flag(true)
                writer.name("verified")
                writer.flag(true)
            }
        }
        return HTTPResponse(
            status: 200, headers: [(name: "Content-Type", value: "application/json")],
            body: writer.bytes)
    }

    private func bearer(_ request: HTTPRequest) -> String? {
        let scheme = "Bearer "
        guard let field = request.headers["Authorization"], field.hasPrefix(scheme) else {
            return nil
        }
        return String(field.dropFirst(scheme.count))
    }

    private static func time(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).ISO8601Format()
    }
}
