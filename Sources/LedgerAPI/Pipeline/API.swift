package import HTTP
internal import Ledger

/// One surface on the shared pipeline: maps each request to exactly one response.
package struct API: Sendable {
    private let services: APIServices
    private let surface: any Surface
    private let router: Router<any Route>

    /// Creates a surface on top of these services.
    init(_ services: APIServices, _ surface: any Surface) {
        self.services = services
        self.surface = surface
        var router = Router<any Route>()
        for type in surface.routes {
            let route = type.init()
            for path in surface.paths(of: type) {
                router.add(type.method, path, route, slashesIn: type.slashParameter)
            }
        }
        self.router = router
    }

    /// Answers a request.
    package func handle(_ request: HTTPRequest) async -> HTTPResponse {
        let started = ContinuousClock.now
        let name = RequestName(request.headers) { services.newID() }
        let trace = trace(of: request.headers)
        let match = router.match(method: request.method, path: request.path)
        var response: HTTPResponse
        do {
            response = try await answer(request, match, name, trace)
        } catch {
            response = surface.response(to: error)
        }
        finish(&response, to: request.headers, name)
        services.observer.observed(
            RequestObservation(
                method: request.method, route: Self.template(of: match), status: response.status,
                duration: ContinuousClock.now - started, requestID: name.text, trace: trace))
        return response
    }

    /// Answers a request that the server rejects before it is complete, from its header fields
    /// alone.
    package func reject(_ rejection: HTTPRejection, _ headers: HTTPHeaders) -> HTTPResponse {
        let name = RequestName(headers) { services.newID() }
        var response = surface.response(to: rejection)
        finish(&response, to: headers, name)
        services.observer.observed(
            RequestObservation(
                method: "", route: RequestObservation.rejectedRoute, status: response.status,
                duration: .zero, requestID: name.text, trace: trace(of: headers)))
        return response
    }

    private func answer(
        _ request: HTTPRequest, _ match: RouteMatch, _ name: RequestName, _ trace: TraceContext?
    ) async throws(APIError) -> HTTPResponse {
        switch match {
        case .notFound:
            throw .notFound
        case .methodNotAllowed(let methods, _, let captures):
            _ = try await tenant(in: captures, isServed: false)
            let allowed = (methods + ["OPTIONS"]).sorted()
            guard request.method == "OPTIONS" else { throw .methodNotAllowed(allowed: allowed) }
            var response = HTTPResponse.allowing(allowed)
            services.allowedOrigins.permit(
                methods, surface.requestHeaders, in: &response, to: request.headers)
            return response
        case .found(let number, _, let captures):
            let route = router[number]
            let tenant = try await tenant(
                in: captures, isServed: type(of: route).requiresServedTenant)
            let now = services.now()
            let page = try surface.page(of: request.headers, in: tenant, at: now, services)
            let call = RouteCall(
                services: services, surface: surface, route: type(of: route), request: request,
                name: name, trace: trace, tenant: tenant, captures: captures, now: now, page: page)
            defer { call.end() }
            return try await route.answer(call)
        }
    }

    /// Returns the tenant that a path names.
    ///
    /// - Throws: 404 when it does not exist; if it must be served here, 503 while it is not, or that is unknown.
    private func tenant(
        in captures: RouteCaptures, isServed: Bool
    ) async throws(APIError) -> TenantID {
        guard let tenant = surface.tenant(in: captures) else { throw .notFound }
        // `default` exists in every ledger: health, keys and pages depend on no look-up.
        guard isServed || tenant != .default else { return tenant }
        let exists: Bool
        do {
            exists =
                try await isServed
                ? services.tenants.contains(tenant) : services.tenants.exists(tenant)
        } catch {
            throw .faulted(error)
        }
        guard exists else { throw .notFound }
        return tenant
    }

    /// Returns the span of a request in its client's trace; nil without one valid `traceparent`.
    private func trace(of headers: HTTPHeaders) -> TraceContext? {
        let values = headers.values(TraceContext.header)
        guard values.count == 1 else { return nil }
        return TraceContext(values[0])?.child(UInt64(truncatingIfNeeded: services.random()))
    }

    private func finish(
        _ response: inout HTTPResponse, to headers: HTTPHeaders, _ name: RequestName
    ) {
        services.allowedOrigins.expose(surface.exposedHeaders, of: &response, to: headers)
        response.headers.append((RequestName.header, name.text))
        Self.keepOutOfCaches(&response)
    }

    /// Responses hold tokens and personal data; only the published keys may be cached.
    static func keepOutOfCaches(_ response: inout HTTPResponse) {
        guard !response.headers.contains(where: { $0.name == "Cache-Control" }) else { return }
        response.headers.append(("Cache-Control", "no-store"))
    }

    private static func template(of match: RouteMatch) -> String {
        switch match {
        case .found(_, let template, _), .methodNotAllowed(_, let template, _): template
        case .notFound: RequestObservation.unmatchedRoute
        }
    }
}
