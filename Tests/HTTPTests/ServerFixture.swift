import HTTP

/// Starts a server on a free loopback port, runs a body with it, and stops it.
func withServer(
    limits: HTTPServerLimits = HTTPServerLimits(),
    handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse = echo,
    _ body: (HTTPServer) async throws -> Void
) async throws {
    let server = try HTTPServer(
        host: "127.0.0.1", port: 0, limits: limits, reject: reject, handler: handler)
    do {
        try await body(server)
    } catch {
        await server.stop(grace: .zero)
        throw error
    }
    await server.stop(grace: .seconds(5))
}

/// Renders a rejection with its kind and its request.
let reject: @Sendable (HTTPRejection, HTTPHeaders) -> HTTPResponse = { rejection, headers in
    let status =
        switch rejection {
        case .bodyTooLarge: 413
        case .lengthRequired: 411
        case .malformed: 400
        case .overloaded: 503
        case .internalFailure: 500
        case .headersTooLarge: 431
        case .expectationUnknown: 417
        }
    return HTTPResponse(
        status: status, headers: headers["X-Name"].map { [("X-Name", $0)] } ?? [],
        body: Array("\(rejection)".utf8))
}

/// Answers with the request.
let echo: @Sendable (HTTPRequest) async -> HTTPResponse = { request in
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "|")
    return HTTPResponse(
        status: 200,
        headers: [("Content-Type", "text/plain"), ("X-Query", query), ("X-Path", request.path)],
        body: Array("\(request.method) ".utf8) + request.body)
}

/// Answers with the request; requests for `/held` wait at a gate first.
func echoHolding(at gate: Gate) -> @Sendable (HTTPRequest) async -> HTTPResponse {
    { request in
        if request.path == "/held" { await gate.pass() }
        return await echo(request)
    }
}
