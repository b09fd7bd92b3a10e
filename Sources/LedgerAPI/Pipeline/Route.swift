internal import HTTP
internal import Ledger
internal import Synchronization

/// One method of one path: reads the request, calls the ledger, writes the response.
protocol Route: Sendable {
    /// The method in upper case.
    static var method: String { get }
    /// The path without the tenant prefix, with parameters in braces.
    static var path: String { get }
    /// Whether the path exists for each tenant, and not once for the whole service.
    static var isTenantScoped: Bool { get }

    init()

    /// Answers a request whose tenant exists.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse
}

extension Route {
    static var isTenantScoped: Bool { true }
}

/// A request in a route, with its context.
///
/// One object, because every function of a route takes it and a copy would retain many references.
final class RouteCall: Sendable {
    let services: APIServices
    let request: HTTPRequest
    let name: RequestName
    let tenant: TenantID
    let captures: RouteCaptures
    /// The time at which the request arrived.
    let now: Timestamp
    private let hasPermit = Mutex(false)

    init(
        services: APIServices, request: HTTPRequest, name: RequestName, tenant: TenantID,
        captures: RouteCaptures, now: Timestamp
    ) {
        self.services = services
        self.request = request
        self.name = name
        self.tenant = tenant
        self.captures = captures
        self.now = now
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

    /// The provider's name in the path; nil when it breaks the grammar, so no tenant can have it.
    var provider: ProviderName? { captures["provider"].flatMap(ProviderName.init) }

    /// Returns the caller.
    ///
    /// - Throws: 401 unless the request carries a valid access token for the tenant. Whether the
    ///   session is live is not known yet: the command or the read that follows checks it.
    func caller() throws(APIError) -> Caller {
        let token = try BearerToken.read(request.headers)
        guard let claims = services.accessTokens.check(token, for: tenant, at: now) else {
            throw .accessTokenInvalid
        }
        return claims.caller
    }

    /// Returns the error for an invalid request: 401 when the caller's session has ended, since the
    /// contract checks the access token first.
    ///
    /// Only an invalid request needs this extra read; otherwise the command checks the session.
    func answer(to flaw: APIError, by caller: Caller) async -> APIError {
        do {
            _ = try await identities(of: caller)
            return flaw
        } catch {
            return error
        }
    }

    /// Submits a command.
    ///
    /// - Throws: the command's refusal or fault.
    func submit(_ intent: Command.Intent) async throws(APIError) -> Reply {
        let command = Command(
            id: services.newID(), tenant: tenant,
            origin: Command.Origin(request, name: name, trusting: services.trustedProxies),
            intent: intent)
        let result: Result<Reply, Refusal>
        do {
            result = try await services.commands.submit(command)
        } catch {
            throw .faulted(error)
        }
        switch result {
        case .success(let reply): return reply
        case .failure(let refusal): throw .refused(refusal)
        }
    }

    /// Returns the identities of the caller's account if the caller's session is live.
    ///
    /// - Throws: 401 when it has ended.
    func identities(of caller: Caller) async throws(APIError) -> [LinkedIdentity] {
        let result: Result<[LinkedIdentity], Refusal>
        do {
            result = try await services.accounts.identities(of: caller, in: tenant)
        } catch {
            throw .faulted(error)
        }
        switch result {
        case .success(let identities): return identities
        case .failure(let refusal): throw .refused(refusal)
        }
    }
}
