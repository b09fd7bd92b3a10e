package import HTTP

/// The operator's endpoints on a listener of their own: `/metrics`, detailed `/readyz` and
/// `/healthz`.
package struct AdminAPI: Sendable {
    private let metrics: @Sendable () async -> String
    private let readiness: @Sendable () async -> Readiness
    private let router: Router<Page>

    /// Creates the endpoints.
    ///
    /// - Parameters:
    ///   - metrics: writes all metrics in the Prometheus text format.
    ///   - readiness: checks what the service depends on.
    package init(
        metrics: @escaping @Sendable () async -> String,
        readiness: @escaping @Sendable () async -> Readiness
    ) {
        self.metrics = metrics
        self.readiness = readiness
        var router = Router<Page>()
        for page in Page.allCases { router.add("GET", page.path, page) }
        self.router = router
    }

    /// Answers one request.
    package func handle(_ request: HTTPRequest) async -> HTTPResponse {
        var response =
            switch router.match(method: request.method, path: request.path) {
            case .found(let number, _, _): await answer(router[number])
            case .methodNotAllowed(let methods, _, _): other(request.method, than: methods)
            case .notFound: ErrorAnswer(.notFound).response
            }
        response.headers.append(("Cache-Control", "no-store"))
        return response
    }

    private func other(_ method: String, than methods: [String]) -> HTTPResponse {
        let allowed = (methods + ["OPTIONS"]).sorted()
        return method == "OPTIONS"
            ? .allowing(allowed) : ErrorAnswer(.methodNotAllowed(allowed: allowed)).response
    }

    private func answer(_ page: Page) async -> HTTPResponse {
        switch page {
        case .metrics:
            return HTTPResponse(
                status: 200,
                headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
                body: Array(await metrics().utf8))
        case .readiness:
            let readiness = await readiness()
            guard !readiness.isReady else { return .json(readiness) }
            return .json(readiness, status: 503, headers: ErrorAnswer(.notReady).headers)
        case .health:
            return HealthRoute.response
        }
    }
}
