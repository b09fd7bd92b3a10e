internal import HTTP

/// One method of one path: reads the request, calls the ledger, writes the response.
protocol Route: Sendable {
    /// The method in upper case.
    static var method: String { get }
    /// The path in the surface, with parameters in braces.
    static var path: String { get }
    /// The parameter of the path that may contain a slash, as `%2F`; nil for none.
    static var slashParameter: String? { get }
    /// Whether the path exists for each tenant, and not once for the whole service.
    static var isTenantScoped: Bool { get }
    /// Whether requests are refused while the tenant is served elsewhere; false for routes that read nothing of it.
    static var requiresServedTenant: Bool { get }
    /// The description in the API's document, with every input that the route can read; no request
    /// reads more of it than its roles, its parameters and its body's form.
    static var operation: Operation { get }

    init()

    /// Answers a request whose tenant exists.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse
}

extension Route {
    static var slashParameter: String? { nil }
    static var isTenantScoped: Bool { true }
    static var requiresServedTenant: Bool { isTenantScoped }
}
