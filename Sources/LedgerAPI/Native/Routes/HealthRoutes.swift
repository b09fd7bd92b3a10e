internal import HTTP
internal import LedgerWire

/// `GET /healthz`: the process is alive.
struct HealthRoute: Route {
    static let method = "GET"
    static let path = "/healthz"
    static let isTenantScoped = false
    static let operation = Operation(
        id: "get_health", tag: .service, summary: "Whether the process is alive",
        access: .anyone, answers: .json(StatusAnswer.schema))

    static let response = HTTPResponse.json(StatusAnswer(status: "ok"))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        Self.response
    }
}

/// `GET /readyz`: the service is ready.
struct ReadinessRoute: Route {
    static let method = "GET"
    static let path = "/readyz"
    static let isTenantScoped = false
    static let operation = Operation(
        id: "get_readiness", tag: .service, summary: "Whether the service can take requests",
        access: .anyone, answers: .json(StatusAnswer.schema), refusals: [.notReady])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard await call.services.readiness().isReady else { throw .notReady }
        return .json(StatusAnswer(status: "ready"))
    }
}
