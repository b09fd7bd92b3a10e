internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import LedgerWire

/// The ledger's own surface: JSON bodies, errors with codes, ES256 access tokens, and the tenant in
/// the path.
struct NativeSurface: Surface {
    let routes: [any Route.Type]
    var requestHeaders: String { Self.describedHeaders }
    var exposedHeaders: String { "X-Request-Id, Retry-After, WWW-Authenticate" }

    private static let describedHeaders: String = {
        let described = RouteTable.routes.flatMap { $0.operation.parameters }
            .filter { $0.location == .header }.map(\.name)
        // Tracers of browsers send both fields.
        let tracing = [TraceContext.header, "tracestate"]
        let names = ["Authorization", "Content-Type", RequestName.header] + tracing + described
        return Set(names).sorted().joined(separator: ", ")
    }()

    /// Creates the surface, with or without the routes that describe it.
    init(servesDocuments: Bool = true) {
        routes =
            RouteTable.pages + (servesDocuments ? RouteTable.routes : RouteTable.withoutDocuments)
    }

    /// Each path of a tenant exists twice, bare for `default` and behind `/t/{tenant}`.
    func paths(of route: any Route.Type) -> [String] {
        let paths = route == ConsolePageRoute.self ? ConsolePageRoute.paths : [route.path]
        return route.isTenantScoped ? paths + paths.map { "/t/{tenant}\($0)" } : paths
    }

    func tenant(in captures: RouteCaptures) -> TenantID? {
        captures["tenant"].map(TenantID.init) ?? .default
    }

    func response(to error: APIError) -> HTTPResponse { ErrorAnswer(error).response }

    func response(to rejection: HTTPRejection) -> HTTPResponse { ErrorAnswer(rejection).response }

    func word(for error: APIError) -> String { ErrorAnswer(error).code.rawValue }

    func reason(of call: RouteCall) throws(APIError) -> String? { try ReasonHeader.read(call) }

    func caller(
        of token: String, in tenant: TenantID, at now: Timestamp, _ services: APIServices
    ) -> Caller? {
        services.accessTokens.check(token, for: tenant, at: now)?.caller
    }

    func page(
        of headers: HTTPHeaders, in tenant: TenantID, at now: Timestamp, _ services: APIServices
    ) throws(APIError) -> PageSessions.Session? {
        // Its token is that of another page, and another cookie.
        if let staff = services.staff, ConsoleRequest.isOne(headers, staff.sessions) { return nil }
        return try PageRequest.session(of: headers, in: tenant, at: now, services.pages)
    }

    func staffSecret(
        of headers: HTTPHeaders, _ sessions: StaffSessions
    ) throws(APIError) -> StaffSessions.Secret? {
        try ConsoleRequest.secret(of: headers, sessions)
    }

    func hasPageCookie(
        _ headers: HTTPHeaders, in tenant: TenantID, at now: Timestamp, _ services: APIServices
    ) -> Bool {
        PageRequest.hasCookie(headers, in: tenant, at: now, services.pages)
    }

    func accessToken(
        for grant: Grant, names: [ExternalName]?, in tenant: TenantID, _ services: APIServices
    ) -> String {
        services.accessTokens.issue(
            for: grant, names: TokenNames(names), in: tenant, at: services.now())
    }
}
