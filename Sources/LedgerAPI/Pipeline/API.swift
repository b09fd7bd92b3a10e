package import HTTP
internal import Ledger

/// The HTTP contract: maps each request to exactly one response.
package struct API: Sendable {
    /// The paths that report the state of the process; answered under any load.
    package static let healthPaths = [HealthRoute.path, ReadinessRoute.path]

    /// Every route without the tenant prefix, such as `GET /v1/account`.
    package static let routes = RouteTable.routes.map { "\($0.method) \($0.path)" }

    /// The response to every request while the server is starting.
    package static var starting: HTTPResponse {
        var response = ErrorAnswer(.starting).response
        keepOutOfCaches(&response)
        return response
    }

    private let services: APIServices
    private let router = RouteTable.router

    /// Creates the contract on top of these services.
    package init(_ services: APIServices) {
        self.services = services
    }

    /// Answers a request.
    package func handle(_ request: HTTPRequest) async -> HTTPResponse {
        let started = ContinuousClock.now
        let name = RequestName(request.headers) { services.newID() }
        let match = router.match(method: request.method, path: request.path)
        var response: HTTPResponse
        do {
            response = try await answer(request, match, name)
        } catch {
            response = ErrorAnswer(error).response
        }
        finish(&response, to: request.headers, name)
        services.observer.observed(
            RequestObservation(
                method: request.method, route: Self.template(of: match), status: response.status,
                duration: ContinuousClock.now - started, requestID: name.text))
        return response
    }

    /// Answers a request that the server rejects before it is complete, from its header fields
    /// alone.
    package func reject(_ rejection: HTTPRejection, _ headers: HTTPHeaders) -> HTTPResponse {
        let name = RequestName(headers) { services.newID() }
        var response = ErrorAnswer(rejection).response
        finish(&response, to: headers, name)
        services.observer.observed(
            RequestObservation(
                method: "", route: RequestObservation.rejectedRoute, status: response.status,
                duration: .zero, requestID: name.text))
        return response
    }

    private func answer(
        _ request: HTTPRequest, _ match: RouteMatch, _ name: RequestName
    ) async throws(APIError) -> HTTPResponse {
        switch match {
        case .notFound:
            throw .notFound
        case .methodNotAllowed(let methods, _, let captures):
            _ = try await tenant(in: captures)
            let allowed = (methods + ["OPTIONS"]).sorted()
            guard request.method == "OPTIONS" else { throw .methodNotAllowed(allowed: allowed) }
            var response = HTTPResponse.allowing(allowed)
            services.allowedOrigins.permit(methods, in: &response, to: request.headers)
            return response
        case .found(let number, _, let captures):
            let tenant = try await tenant(in: captures)
            let call = RouteCall(
                services: services, request: request, name: name, tenant: tenant,
                captures: captures, now: services.now())
            defer { call.end() }
            return try await router[number].answer(call)
        }
    }

    /// Returns the tenant that a path names.
    ///
    /// - Throws: 404 when it does not exist.
    private func tenant(in captures: RouteCaptures) async throws(APIError) -> TenantID {
        let named = captures["tenant"].map(TenantID.init) ?? .default
        guard let tenant = named else { throw .notFound }
        // `default` exists in every ledger: most requests need no lookup.
        guard tenant != .default else { return tenant }
        let exists: Bool
        do {
            exists = try await services.tenants.contains(tenant)
        } catch {
            throw .faulted(error)
        }
        guard exists else { throw .notFound }
        return tenant
    }

    private func finish(
        _ response: inout HTTPResponse, to headers: HTTPHeaders, _ name: RequestName
    ) {
        services.allowedOrigins.expose(&response, to: headers)
        response.headers.append((RequestName.header, name.text))
        Self.keepOutOfCaches(&response)
    }

    /// Responses hold tokens and personal data; only the published keys may be cached.
    private static func keepOutOfCaches(_ response: inout HTTPResponse) {
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
