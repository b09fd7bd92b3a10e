import Cryptography
internal import Foundation
package import HTTP
internal import JSON

/// Imitates Google, Apple, Facebook, GitHub, X and LinkedIn under `/dev/idp/` on the API's own listener, in development
/// only.
package struct DevelopmentIdentityProvider: Sendable {
    /// The start of every path that it answers.
    package static let pathPrefix = "/dev/idp/"
    /// The imitated providers of ID tokens.
    package static let names = ["google", "apple"]

    /// The imitated identity provider of the staff; account holders cannot sign in with it.
    package static let staffName = "staff"

    /// The audience of tokens whose request names none.
    package static let audience = "dev-client"

    private enum Page {
        case root
        case discovery
        case keySet
        case token
        case authorization
    }

    private let api: String
    private let providers: [String: ImitatedProvider]
    private let tokenProviders: [String: ImitatedTokenProvider]
    let codes: AuthorizationCodes
    private let router: Router<Page>

    /// Makes the provider of an API that listens at a base URL such as `http://127.0.0.1:8080`.
    package init(
        api: String, providers: [ImitatedProvider], tokenProviders: [ImitatedTokenProvider],
        codes: AuthorizationCodes
    ) {
        self.api = api
        self.codes = codes
        self.providers = Dictionary(providers.map { ($0.name, $0) }) { first, _ in first }
        self.tokenProviders = Dictionary(tokenProviders.map { ($0.name, $0) }) { first, _ in first }
        var router = Router<Page>()
        router.add("GET", "/dev/idp/{provider}/", .root)
        router.add("POST", "/dev/idp/{provider}/", .root)
        router.add("GET", "/dev/idp/{provider}/.well-known/openid-configuration", .discovery)
        router.add("GET", "/dev/idp/{provider}/jwks", .keySet)
        router.add("GET", "/dev/idp/{provider}/token", .token)
        router.add("POST", "/dev/idp/{provider}/token", .token)
        router.add("GET", "/dev/idp/{provider}/authorize", .authorization)
        router.add("POST", "/dev/idp/{provider}/authorize", .authorization)
        self.router = router
    }

    /// Returns the URL of an imitated provider's key set.
    package static func keySetURL(of provider: String, api: String) -> String {
        "\(baseURL(of: provider, api: api))/jwks"
    }

    /// Returns the URL under which a provider is imitated.
    package static func baseURL(of provider: String, api: String) -> String {
        "\(api)\(pathPrefix)\(provider)"
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
        if let answer = tokenProviderAnswer(request) { return answer }
        switch router.match(method: request.method, path: request.path) {
        case .notFound:
            return .failure(404, "NOT_FOUND", "No such path")
        case .methodNotAllowed(let allowed, _, _):
            var response = HTTPResponse.failure(
                405, "METHOD_NOT_ALLOWED", "This path does not support this method")
            response.headers.append((name: "Allow", value: allowed.joined(separator: ", ")))
            return response
        case .found(let number, _, let captures):
            guard let name = captures["provider"], let mint = mint(at: name) else {
                return .failure(404, "NOT_FOUND", "No such path")
            }
            switch (router[number], providers[name]) {
            case (.root, _): return page(of: name, mint, request)
            case (.token, _): return exchange(at: name, request) ?? token(mint, request)
            case (.authorization, _): return authorization(at: name, request)
            case (.discovery, let provider?): return discovery(of: provider)
            case (.keySet, let provider?): return .json(200, provider.writeKeySet)
            case (.discovery, nil), (.keySet, nil):
                return .failure(404, "NOT_FOUND", "No such path")
            }
        }
    }

    /// Answers a call of the interface of a provider of access tokens; nil for another path.
    private func tokenProviderAnswer(_ request: HTTPRequest) -> HTTPResponse? {
        let path = request.path.dropFirst(Self.pathPrefix.count)
        guard let provider = tokenProviders[String(path.prefix { $0 != "/" })] else { return nil }
        return provider.answer(path.dropFirst(provider.name.count), request, now: Self.now)
    }

    /// The issuer of an imitated provider of ID tokens.
    package func issuer(of name: String) -> String? { providers[name]?.issuer }

    /// Returns the metadata of an imitated provider of ID tokens, as JSON.
    package func metadata(of name: String) -> [UInt8] {
        providers[name].map { discovery(of: $0).body } ?? []
    }

    /// Returns the token that the exchange of a code gives for a person.
    func flowToken(of person: TokenRequest, nonce: String?, at name: String) -> MintedToken? {
        if let provider = providers[name] {
            return MintedToken(
                kind: .idToken, text: provider.mint(person, carrying: nonce, now: Self.now))
        }
        return tokenProviders[name].map {
            MintedToken(kind: .accessToken, text: $0.mint(person, now: Self.now))
        }
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    /// Checks whether a `Host` field, with or without a port, names this machine.
    package static func isLoopback(host: String) -> Bool {
        let host = host.lowercased()
        return (ListenAddress(host) ?? ListenAddress(host + ":0"))?.isLoopback ?? false
    }

    /// The way in which a provider makes its tokens.
    private struct Mint {
        let kind: MintedToken.Kind
        let make: @Sendable (TokenRequest, Int64) -> String
    }

    /// Returns the way in which a provider makes tokens; nil for an unknown one.
    private func mint(at name: String) -> Mint? {
        if let provider = providers[name] {
            return Mint(kind: .idToken) { provider.mint($0, now: $1) }
        }
        return tokenProviders[name].map { provider in
            Mint(kind: .accessToken) { provider.mint($0, now: $1) }
        }
    }

    private func page(of name: String, _ mint: Mint, _ request: HTTPRequest) -> HTTPResponse {
        guard request.method == "POST" else {
            return .html(
                200, ProviderPage.html(of: name, kind: mint.kind, api: api, .nothing))
        }
        switch minted(by: mint, request) {
        case .success(let minted):
            let result = ProviderPage.Result.token(minted.token, request: minted.request)
            return .html(200, ProviderPage.html(of: name, kind: mint.kind, api: api, result))
        case .failure(let refused):
            return .html(
                400,
                ProviderPage.html(of: name, kind: mint.kind, api: api, .refused(refused.text)))
        }
    }

    private func token(_ mint: Mint, _ request: HTTPRequest) -> HTTPResponse {
        switch minted(by: mint, request) {
        case .success(let minted):
            .json(200) { $0.member(minted.token.kind.rawValue, minted.token.text) }
        case .failure(let refused): .failure(400, "INVALID_REQUEST", refused.text)
        }
    }

    private func minted(
        by mint: Mint, _ request: HTTPRequest
    ) -> Result<(token: MintedToken, request: TokenRequest), TokenRequest.Refused> {
        guard let fields = FormFields(request) else {
            return .failure(TokenRequest.Refused(text: "the form is malformed"))
        }
        do throws(TokenRequest.Refused) {
            let wanted = try TokenRequest(fields)
            let token = MintedToken(kind: mint.kind, text: mint.make(wanted, Self.now))
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
            writer.member("authorization_endpoint", root + "/authorize")
            writer.member("token_endpoint", root + "/token")
            writer.member("jwks_uri", Self.keySetURL(of: provider.name, api: api))
            writer.name("response_types_supported")
            writer.texts(["code"])
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
