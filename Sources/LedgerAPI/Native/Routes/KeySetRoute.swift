internal import HTTP

/// `GET /.well-known/jwks.json`: the public keys of access tokens (RFC 7517).
struct KeySetRoute: Route {
    static let method = "GET"
    static let path = "/.well-known/jwks.json"

    private static let maxAgeSeconds = 300

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        .json(
            bytes: call.services.accessTokens.publishedKeys,
            headers: [("Cache-Control", "public, max-age=\(Self.maxAgeSeconds)")])
    }
}
