internal import HTTP
internal import Ledger
internal import LedgerSignIn
internal import Synchronization

/// A request in a route, with its context.
///
/// One object, because every function of a route takes it and a copy would retain many references.
final class RouteCall: Sendable {
    let services: APIServices
    let surface: any Surface
    private let route: any Route.Type
    let request: HTTPRequest
    let name: RequestName
    private let trace: TraceContext?
    let tenant: TenantID
    let captures: RouteCaptures
    /// The time at which the request arrived.
    let now: Timestamp
    /// The session of the page that sends the request; nil for another client.
    let page: PageSessions.Session?
    private let hasPermit = Mutex(false)

    init(
        services: APIServices, surface: any Surface, route: any Route.Type, request: HTTPRequest,
        name: RequestName, trace: TraceContext?, tenant: TenantID, captures: RouteCaptures,
        now: Timestamp, page: PageSessions.Session?
    ) {
        self.services = services
        self.surface = surface
        self.route = route
        self.request = request
        self.name = name
        self.trace = trace
        self.tenant = tenant
        self.captures = captures
        self.now = now
        self.page = page
    }

    /// Acquires a permit for a principal's request, held until ``end()``.
    ///
    /// - Throws: 503 when none is available.
    func acquirePermit() throws(APIError) {
        guard services.audit.limiter.acquire() else { throw .faulted(.overloaded) }
        hasPermit.withLock { $0 = true }
    }

    /// Releases the request's permit; to be called when it is answered.
    func end() {
        if hasPermit.withLock({ $0 }) { services.audit.limiter.release() }
    }

    var configuration: TenantConfiguration { services.configuration(of: tenant) }

    /// The description of the route, which has every input that the route can read.
    var operation: Operation { route.operation }

    /// The body as it was received; the surface reads its members.
    var content: [UInt8] { request.body }

    /// The values of `Content-Type`, which describes the body.
    var contentTypes: [String] { request.headers.all("Content-Type") }

    /// Whether the client prefers the text among the described answers to JSON.
    var prefersText: Bool { AcceptHeader.prefersText(request.headers) }

    /// The path of the request, percent-encoded.
    var path: String { request.path }

    /// The names in the query, in their order.
    var queryNames: [String] { request.query.map(\.name) }

    /// Returns the values of a parameter of the query or of a header field.
    ///
    /// - Throws: 500 unless the route's description has it, so that no route reads more than that.
    func values(of parameter: Parameter) throws(APIError) -> [String] {
        let isDescribed = operation.parameters.contains {
            $0.location == parameter.location && $0.name == parameter.name
        }
        guard isDescribed else { throw .faulted(.internalFailure) }
        return switch parameter.location {
        case .query: request.query.filter { $0.name == parameter.name }.map(\.value)
        case .header: request.headers.values(parameter.name)
        case .path: captures[parameter.name].map { [$0] } ?? []
        case .cookie: cookies(named: parameter.name)
        }
    }

    /// Returns the values of a cookie.
    func cookies(named name: String) -> [String] {
        Cookies.values(named: name, in: request.headers)
    }

    /// The network of the client, by which its requests are counted: an IPv4 address, or the first 64 bits of
    /// an IPv6 address, since a customer of an internet provider has all that begin with them.
    var clientNetwork: String {
        let client = services.trustedProxies.clientAddress(
            peer: request.peerAddress, forwardedFor: request.headers.all("X-Forwarded-For"))
        return IPAddress(client)?.network(ipv6Bits: 64).text ?? client
    }

    /// Returns the secret of the console's session that sends the request; nil for another client.
    ///
    /// - Throws: 403 for a request that has the session's cookie and is not the console's.
    func staffSecret() throws(APIError) -> StaffSessions.Secret? {
        guard let staff = services.staff else { return nil }
        return try surface.staffSecret(of: request.headers, staff.sessions)
    }

    /// Returns the live session of the console; nil when it has ended.
    ///
    /// - Parameters:
    ///   - secret: The secret that the browser has.
    ///   - isUse: Whether the request keeps the session from ending.
    /// - Returns: The session.
    /// - Throws: 503 when that cannot be determined.
    func staffSession(
        of secret: StaffSessions.Secret?, isUse: Bool
    ) async throws(APIError) -> StaffSessions.Session? {
        guard let staff = services.staff, let secret else { return nil }
        do {
            return try await staff.session(of: secret, isUse: isUse, at: services.now())
        } catch {
            throw .faulted(error)
        }
    }

    /// Returns the token of `Authorization`, which is not checked.
    func bearerToken() throws(APIError) -> String { try BearerToken.read(request.headers) }

    /// Returns the account holder.
    ///
    /// - Throws: 401 unless the request carries a valid access token for the tenant, or is a page's after a
    ///   sign-in; 403 for a page's cookie alone. Whether the session is live is not known yet: the command or the
    ///   read that follows checks it.
    func caller() throws(APIError) -> Caller {
        if let page {
            guard let caller = page.caller else { throw .accessTokenMissing }
            return caller
        }
        let token: String
        do {
            token = try bearerToken()
        } catch {
            let isForged = surface.hasPageCookie(request.headers, in: tenant, at: now, services)
            throw isForged ? .notOfPage : error
        }
        guard let caller = caller(of: token) else { throw .accessTokenInvalid }
        return caller
    }

    /// Returns the account and the session of an access token; nil for an invalid one.
    func caller(of token: String) -> Caller? {
        surface.caller(of: token, in: tenant, at: now, services)
    }

    /// Authenticates the account holder and reads the rest of the request, in the order of checks
    /// of every route that changes an account: the access token, the session, the request.
    ///
    /// The command checks the session itself, so only an invalid request needs a read for that; routes that check a
    /// proof before their command read the session as well.
    ///
    /// - Parameter read: reads the request of this account holder; throws an invalid one's error.
    /// - Returns: what `read` returns.
    /// - Throws: 401 without a valid access token, and for an invalid request of an ended session;
    ///   otherwise the error of `read`.
    func byAccountHolder<Request>(
        _ read: (Caller) throws(APIError) -> Request
    ) async throws(APIError) -> Request {
        let caller = try caller()
        do {
            return try read(caller)
        } catch {
            _ = try await identities(of: caller)
            throw error
        }
    }

    /// Submits a command and returns its own result.
    ///
    /// - Throws: the command's refusal or fault.
    func submit<Request: LedgerRequest>(
        _ submitted: Request
    ) async throws(APIError) -> Request.Success {
        let command = Command(
            id: services.newID(), tenant: tenant,
            origin: Command.Origin(
                request, name: name, trace: trace, trusting: services.trustedProxies),
            intent: submitted.intent)
        let result: Result<Reply, Refusal>
        do {
            result = try await services.commands.submit(command)
        } catch {
            throw .faulted(error)
        }
        switch result {
        case .success(let reply):
            guard let success = Request.success(in: reply) else { throw .faulted(.internalFailure) }
            return success
        case .failure(let refusal): throw .refused(refusal)
        }
    }

    /// Returns the identities of the caller's account if the caller's session is live.
    ///
    /// - Throws: 401 when it has ended.
    func identities(of caller: Caller) async throws(APIError) -> [LinkedIdentity] {
        try await linkedAccount(of: caller).identities
    }

    /// Returns the caller's account if the caller's session is live.
    ///
    /// - Throws: 401 when it has ended.
    func linkedAccount(of caller: Caller) async throws(APIError) -> LinkedAccount {
        let result: Result<LinkedAccount, Refusal>
        do {
            result = try await services.accounts.linkedAccount(of: caller, in: tenant)
        } catch {
            throw .faulted(error)
        }
        switch result {
        case .success(let account): return account
        case .failure(let refusal): throw .refused(refusal)
        }
    }
}
