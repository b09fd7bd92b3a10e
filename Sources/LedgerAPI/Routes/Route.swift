internal import HTTP
internal import Ledger
internal import Synchronization

/// One method of one path: reads the request, asks the ledger, writes the answer.
protocol Route: Sendable {
    /// The method in capitals.
    static var method: String { get }
    /// The path without the tenant's prefix, with names in braces.
    static var path: String { get }
    /// Whether the path exists for each tenant; else it belongs to the service as a whole.
    static var isTenants: Bool { get }

    init()

    /// Answers a request whose tenant exists.
    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse
}

extension Route {
    static var isTenants: Bool { true }
}

/// A request on its way through a route, with what was found out about it.
///
/// One object, because every function of a route takes it and a copy would count many references.
final class RouteCall: Sendable {
    let services: APIServices
    let request: HTTPRequest
    let name: RequestName
    let tenant: TenantID
    let captures: RouteCaptures
    /// When the request came.
    let now: Timestamp
    private let hasTurn = Mutex(false)

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

    /// Takes a turn among the requests of principals, until ``end()``.
    ///
    /// - Throws: 503 when there is none left.
    func takeTurn() throws(APIError) {
        guard services.audit.turns.take() else { throw .faulted(.overloaded) }
        hasTurn.withLock { $0 = true }
    }

    /// Gives back what the request took; to be called when it is answered.
    func end() {
        if hasTurn.withLock({ $0 }) { services.audit.turns.giveBack() }
    }

    var configuration: TenantConfiguration { services.configuration(of: tenant) }

    /// The provider's name in the path; nil when it breaks the grammar, so no tenant can have it.
    var provider: ProviderName? { captures["provider"].flatMap(ProviderName.init) }

    /// Who asks.
    ///
    /// - Throws: 401 unless the request carries a good access token for the tenant. Whether the
    ///   session lives is not known yet: the command or the read that follows checks it.
    func caller() throws(APIError) -> Caller {
        let token = try BearerToken.read(request.headers)
        guard let claims = services.accessTokens.check(token, for: tenant, at: now) else {
            throw .accessTokenInvalid
        }
        return claims.caller
    }

    /// What a caller is told whose request breaks a rule: 401 when the caller's session has ended,
    /// since the access token comes first in the contract's order.
    ///
    /// Only a flaw makes it necessary to ask; else the command asks.
    func answer(to flaw: APIError, by caller: Caller) async -> APIError {
        do {
            _ = try await identities(of: caller)
            return flaw
        } catch {
            return error
        }
    }

    /// Carries a command out.
    ///
    /// - Throws: the refusal or the fault that it ends as.
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

    /// The identities of the caller's account, when the caller's session lives.
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
