import Cryptography
internal import Foundation
package import HTTP
internal import JSON

/// Imitates Google and Apple under `/dev/idp/` on the API's own listener, in development only.
package struct DevelopmentIdentityProvider: Sendable {
    /// The start of every path that it answers.
    package static let pathPrefix = "/dev/idp/"
    /// The imitated providers.
    package static let names = ["google", "apple"]

    /// The audience of tokens whose request names none.
    package static let audience = "dev-client"

    private enum Page {
        case root
        case discovery
        case keySet
        case token
    }

    private let api: String
    private let providers: [String: ImitatedProvider]
    private let router: Router<Page>

    /// Makes the provider of an API that listens at a base URL such as `http://127.0.0.1:8080`.
    package init(api: String, providers: [ImitatedProvider]) {
        self.api = api
        self.providers = Dictionary(providers.map { ($0.name, $0) }) { first, _ in first }
        var router = Router<Page>()
        router.add("GET", "/dev/idp/{provider}/", .root)
        router.add("POST", "/dev/idp/{provider}/", .root)
        router.add("GET", "/dev/idp/{provider}/.well-known/openid-configuration", .discovery)
        router.add("GET", "/dev/idp/{provider}/jwks", .keySet)
        router.add("GET", "/dev/idp/{provider}/token", .token)
        router.add("POST", "/dev/idp/{provider}/token", .token)
        self.router = router
    }

    /// Returns the URL of an imitated provider's key set.
    package static func keySetURL(of provider: String, api: String) -> String {
        "\(api)\(pathPrefix)\(provider)/jwks"
    }

    /// Answers a request for a path under the prefix.
    ///
    /// Only hosts of this machine are answered, against DNS rebinding: a web page can make its own name
    /// resolve to 127.0.0.1 and read the answers, but the browser still sends that name.
    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        guard Self.isLoopback(host: request.headers["Host"] ?? "") else {
            return .failure(
                421, "INVALID_REQUEST", "Host must be localhost or a loopback address")
        }
        switch router.match(method: request.method, path: request.path) {
        case .notFound:
            return .failure(404, "NOT_FOUND", "No such path")
        case .methodNotAllowed(let allowed, _, _):
            var response = HTTPResponse.failure(
                405, "METHOD_NOT_ALLOWED", "This path does not support this method")
            response.headers.append((name: "Allow", value: allowed.joined(separator: ", ")))
            return response
        case .found(let number, _, let captures):
            guard let provider = captures["provider"].flatMap({ providers[$0] }) else {
                return .failure(404, "NOT_FOUND", "No such path")
            }
            switch router[number] {
            case .root: return self.page(of: provider, request)
            case .discovery: return discovery(of: provider)
            case .keySet: return .json(200, provider.writeKeySet)
            case .token: return token(of: provider, request)
            }
        }
    }

    /// Checks whether a `Host` field, with or without a port, names this machine.
    private static func isLoopback(host: String) -> Bool {
        let host = host.lowercased()
        return (ListenAddress(host) ?? ListenAddress(host + ":0"))?.isLoopback ?? false
    }

    private func page(of provider: ImitatedProvider, _ request: HTTPRequest) -> HTTPResponse {
        guard request.method == "POST" else {
            return .html(200, ProviderPage.html(of: provider, api: api, .nothing))
        }
        switch mint(at: provider, request) {
        case .success(let minted):
            let result = ProviderPage.Result.token(minted.token, request: minted.request)
            return .html(200, ProviderPage.html(of: provider, api: api, result))
        case .failure(let refused):
            return .html(400, ProviderPage.html(of: provider, api: api, .refused(refused.text)))
        }
    }

    private func token(of provider: ImitatedProvider, _ request: HTTPRequest) -> HTTPResponse {
        switch mint(at: provider, request) {
        case .success(let minted): .json(200) { $0.member("id_token", minted.token) }
        case .failure(let refused): .failure(400, "INVALID_REQUEST", refused.text)
        }
    }

    private func mint(
        at provider: ImitatedProvider, _ request: HTTPRequest
    ) -> Result<(token: String, request: TokenRequest), TokenRequest.Refused> {
        guard let fields = FormFields(request) else {
            return .failure(TokenRequest.Refused(text: "the form is malformed"))
        }
        do throws(TokenRequest.Refused) {
            let wanted = try TokenRequest(fields)
            let token = provider.mint(wanted, now: Int64(Date().timeIntervalSince1970))
            return .success((token: token, request: wanted))
        } catch {
            return .failure(error)
        }
    }

    /// Answers with the provider metadata (OpenID Connect Discovery 1.0, section 3).
    private func discovery(of provider: ImitatedProvider) -> HTTPResponse {
        let root = "\(api)\(Self.pathPrefix)\(provider.name)"
        return .json(200) { writer in
            writer.member("issuer", provider.issuer)
            writer.member("authorization_endpoint", root + "/")
            writer.member("token_endpoint", root + "/token")
            writer.member("jwks_uri", Self.keySetURL(of: provider.name, api: api))
            writer.name("response_types_supported")
            writer.texts(["id_token"])
            writer.name("subject_types_supported")
            writer.texts(["public"])
            writer.name("id_token_signing_alg_values_supported")
            writer.texts(["RS256"])
        }
    }
}

extension HTTPResponse {
    static func json(_ status: Int, _ members: (inout JSONWriter) -> Void) -> HTTPResponse {
        var writer = JSONWriter()
        writer.object(members)
        return HTTPResponse(
            status: status,
            headers: [
                (name: "Content-Type", value: "application/json"),
                (name: "Cache-Control", value: "no-store"),
            ], body: writer.bytes)
    }

    static func failure(_ status: Int, _ code: String, _ message: String) -> HTTPResponse {
        json(status) { writer in
            writer.name("error")
            writer.object { writer in
                writer.member("code", code)
                writer.member("message", message)
            }
        }
    }

    static func html(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [
                (name: "Content-Type", value: "text/html; charset=utf-8"),
                (name: "Cache-Control", value: "no-store"),
                (name: "Content-Security-Policy", value: ProviderPage.contentSecurityPolicy),
                (name: "X-Content-Type-Options", value: "nosniff"),
                (name: "Referrer-Policy", value: "no-referrer"),
            ], body: Array(text.utf8))
    }
}
