internal import HTTP

/// `GET /.well-known/jwks.json`: the public keys of access tokens (RFC 7517).
struct KeySetRoute: Route {
    static let method = "GET"
    static let path = "/.well-known/jwks.json"
    static let requiresServedTenant = false
    static let operation = Operation(
        id: "get_key_set", tag: .service, summary: "The public keys of access tokens",
        about: "A JSON Web Key Set (RFC 7517), which may be cached for five minutes.",
        access: .anyone,
        answers: .json(
            .object("KeySet", [.required("keys", .list(.object("WebKey", webKey)))])))

    private static let webKey: [Property] = [
        .required("kty", .choice(["EC"])), .required("crv", .choice(["P-256"])),
        .required("alg", .choice(["ES256"])), .required("use", .choice(["sig"])),
        .required("kid", .text("NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")),
        .required("x", .text("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")),
        .required("y", .text("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")),
    ]

    private static let maxAgeSeconds = 300

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        .json(
            bytes: call.services.accessTokens.publishedKeys,
            headers: [("Cache-Control", "public, max-age=\(Self.maxAgeSeconds)")])
    }
}
