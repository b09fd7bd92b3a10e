internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// `GET /console/sign-in`: leads a person of the staff to their identity provider.
struct ConsoleSignInRoute: Route {
    static let method = "GET"
    static let path = "/console/sign-in"
    static let target = Parameter(
        name: "to", schema: .text(""), about: "The path below the console to come back to")
    static let fresh = Parameter(
        name: "fresh", schema: .choice(["1"]), about: "Whether to sign in again in any case")
    static let host = Parameter(
        name: "Host", location: .header, schema: .text(""), about: "The host of the page")
    static let operation = Operation(
        id: "begin_console_sign_in", tag: .log, summary: "Begin a sign-in to the console",
        access: .anyone, parameters: [target, fresh, host], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let staff = call.services.staff else { throw .notFound }
        let wanted = StaffFlows.Wanted(
            path: try call.values(of: Self.target).first.flatMap { ConsolePath($0)?.text } ?? "",
            tenant: call.tenant, isFresh: try call.values(of: Self.fresh).first == "1")
        let callback = LoopbackAddress.of(
            (call.services.publicURL ?? "") + ConsoleCallbackRoute.path,
            asReachedBy: try call.values(of: Self.host).first.map { "http://\($0)" })
        let begun: StaffFlows.Begun
        do {
            begun = try await staff.flows.begin(wanted, callback: callback, at: call.now)
        } catch {
            return ConsoleCallbackRoute.answer(error, to: wanted, from: call.tenant)
        }
        return HTTPResponse(
            status: 303,
            headers: [
                (name: "Location", value: begun.address),
                (name: "Referrer-Policy", value: "no-referrer"),
                ConsoleFlowCookie.set(begun.cookie),
            ])
    }
}

/// `GET /console/callback`: ends a sign-in, and leads to the view that was asked for.
///
/// One address for all tenants, since it has to be registered at the identity provider.
struct ConsoleCallbackRoute: Route {
    static let method = "GET"
    static let path = "/console/callback"
    static let isTenantScoped = false
    static let state = Parameter(name: "state", schema: .text(""), about: "The flow")
    static let code = Parameter(name: "code", schema: .text(""), about: "The code")
    static let error = Parameter(name: "error", schema: .text(""), about: "The cause")
    static let issuer = Parameter(name: "iss", schema: .text(""), about: "The issuer")
    static let operation = Operation(
        id: "end_console_sign_in", tag: .log, summary: "End a sign-in to the console",
        access: .anyone,
        parameters: [
            state, code, error, issuer, ConsoleCookie.parameter, ConsoleFlowCookie.parameter,
        ], answers: [])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        guard let staff = call.services.staff else { throw .notFound }
        let cookie = try call.values(of: ConsoleFlowCookie.parameter).first ?? ""
        let home = StaffFlows.Wanted(path: "", tenant: .default, isFresh: false)
        let wanted = staff.flows.wanted(cookie, at: call.now) ?? home
        let answer = BrowserFlows.Answer(
            state: try single(Self.state, call) ?? "", code: try single(Self.code, call),
            error: try single(Self.error, call), issuer: try single(Self.issuer, call))
        let ended: StaffFlows.Ended
        do {
            ended = try await staff.flows.end(cookie, answer, at: call.now)
        } catch {
            return Self.answer(error, to: wanted, from: nil)
        }
        let former = try call.values(of: ConsoleCookie.parameter).lazy
            .compactMap { staff.sessions.secret(in: $0) }.first
        let secret = staff.sessions.newSecret()
        do {
            try await staff.store.begin(
                staff.sessions.begin(
                    ended.person, authenticatedAt: ended.authenticatedAt, of: secret,
                    at: call.now), replacing: former?.digest)
        } catch {
            throw .faulted(error)
        }
        let path = ConsolePath(wanted.path) ?? .home
        return HTTPResponse(
            status: 303,
            headers: [
                (name: "Location", value: path.address(in: wanted.tenant)),
                (name: "Referrer-Policy", value: "no-referrer"),
                ConsoleCookie.set(secret), ConsoleFlowCookie.deleted,
            ])
    }

    /// A parameter that stands twice counts as none.
    private func single(_ parameter: Parameter, _ call: RouteCall) throws(APIError) -> String? {
        let values = try call.values(of: parameter)
        return values.count == 1 ? values.first : nil
    }

    /// Returns the way back to the console after a sign-in that failed; a former session goes on.
    ///
    /// - Parameters:
    ///   - fault: The reason.
    ///   - wanted: The use of the flow.
    ///   - tenant: The tenant in the path of the request; nil at the callback.
    /// - Returns: The redirection.
    static func answer(
        _ fault: StaffFlowFault, to wanted: StaffFlows.Wanted, from tenant: TenantID?
    ) -> HTTPResponse {
        let path = ConsolePath(wanted.path) ?? .home
        // At the sign-in, the path is that of the tenant already.
        let address = path.address(in: tenant == nil ? wanted.tenant : .default)
        let location = "\(address)\(address.contains("?") ? "&" : "?")sign_in=\(fault.rawValue)"
        return HTTPResponse(
            status: 303,
            headers: [
                (name: "Location", value: location),
                (name: "Referrer-Policy", value: "no-referrer"), ConsoleFlowCookie.deleted,
            ])
    }
}
