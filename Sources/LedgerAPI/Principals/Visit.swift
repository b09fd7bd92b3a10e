internal import HTTP
internal import Ledger
internal import LedgerWire

/// A request of a principal that may do what it asks for; nothing has been shown yet.
struct Visit: Sendable {
    let principal: Principal
    /// Why, in the words of the `Ledger-Reason` field; nil when the request has none.
    let reason: String?

    private let call: RouteCall
    private let access: AccessRecord

    init(_ call: RouteCall, by principal: Principal, reason: String?, _ access: AccessRecord) {
        self.call = call
        self.principal = principal
        self.reason = reason
        self.access = access
    }

    /// Whether personal data is wanted, by `?disclose=true`, and may be shown.
    ///
    /// - Parameters:
    ///   - query: what was asked.
    ///   - ofEverybody: whether what is asked for is about all accounts, and not about one account or event.
    /// - Returns: false when none is wanted.
    /// - Throws: 403, which is recorded, for a role that never sees any, or not everybody's; 400 without a
    ///   reason.
    func isDisclosing(
        _ query: QueryParameters, ofEverybody: Bool = false
    ) async throws(APIError) -> Bool {
        guard try query.flag(QueryParameters.disclose) else { return false }
        guard principal.role.maySeePersonalData else {
            throw try await refusal([QueryParameters.disclose: "true"])
        }
        guard !ofEverybody || principal.role.mayDiscloseEverybody else {
            throw try await refusal([QueryParameters.disclose: "true"], as: .accountNotNamed)
        }
        _ = try requiredReason()
        return true
    }

    /// Whether a term is compared with personal data: who may see any and says why; an id is looked up for
    /// everybody else, too.
    ///
    /// - Throws: 403, which is recorded, for a role that never sees any; 400 without a reason.
    func comparesPersonalData(_ term: SearchTerm) async throws(APIError) -> Bool {
        if term.id != nil { return principal.role.maySeePersonalData && reason != nil }
        guard principal.role.maySeePersonalData else {
            throw try await refusal(["kind": term.kind.rawValue])
        }
        _ = try requiredReason()
        return true
    }

    /// The reason, where there has to be one.
    ///
    /// - Throws: 400 without one.
    func requiredReason() throws(APIError) -> String {
        guard let reason else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(ReasonHeader.name) is required and says why", at: .header(ReasonHeader.name))
            )
        }
        return reason
    }

    /// Writes down what is about to be shown; to be called before it is.
    ///
    /// - Throws: 503 when it can't be written down.
    func record(
        _ query: QueryParameters, account: AccountID? = nil, isDisclosed: Bool = false,
        more: [String: String] = [:]
    ) async throws(APIError) {
        var access = access
        access.account = account ?? access.account
        access.details = query.details.merging(more) { old, _ in old }
        access.isDisclosed = isDisclosed
        try await call.write(access)
    }

    /// Writes down what was searched for and found, which is about to be shown; never the term itself.
    ///
    /// - Throws: 503 when it can't be written down.
    func record(_ found: SearchResult, by term: SearchTerm) async throws(APIError) {
        var access = access
        access.details = found.details(of: term)
        try await call.write(access)
    }

    /// Writes down what is about to be done, and does it.
    ///
    /// What the ledger then refuses has a second line, of the same request, that says so.
    /// - Throws: the refusal or the fault that it ends as; 503 when either line can't be written.
    func carryOut(
        _ intent: Command.Intent, details: [String: String] = [:]
    ) async throws(APIError) -> Reply {
        _ = try requiredReason()
        var access = access
        access.details = details
        try await call.write(access)
        do {
            return try await call.submit(intent)
        } catch {
            if case .refused = error {
                access.details["refusal"] = ErrorAnswer(error).code.rawValue
                access.outcome = .refused
                try await call.write(access)
            }
            throw error
        }
    }

    /// Whether the principal's key is still good, as it was when the visit began.
    ///
    /// - Throws: 503 when that can't be found out.
    func isStillWelcome() async throws(APIError) -> Bool {
        do {
            return try await call.principal() == principal
        } catch {
            guard case .faulted = error else { return false }
            throw error
        }
    }

    /// Records that the principal may not do this, and gives what it is told.
    private func refusal(
        _ details: [String: String], as refusal: APIError = .forbidden
    ) async throws(APIError) -> APIError {
        var access = access
        access.details = details
        access.outcome = .refused
        try await call.write(access)
        return refusal
    }
}

extension RouteCall {
    /// Lets a principal in by its API key.
    ///
    /// Nothing is kept of a key: one that was revoked is refused from the next request on.
    ///
    /// - Parameters:
    ///   - action: what the access log calls it.
    ///   - roles: who may.
    ///   - account: the account that the path names.
    ///   - event: the event that the path names.
    /// - Returns: the visit, of which nothing but the refusals is written down yet.
    /// - Throws: 401 without a good key of this tenant; 403, which is recorded, for another role; 400
    ///   for a reason that can't be one; 503 when too many principals ask at once, or a refusal can't be
    ///   recorded.
    func visit(
        _ action: AccessAction, by roles: Set<Role>, account: AccountID? = nil,
        event: EventID? = nil
    ) async throws(APIError) -> Visit {
        let principal = try await principal()
        // Only now: who has no key takes nobody's turn.
        try takeTurn()
        var access = AccessRecord(by: principal, action)
        access.account = account
        access.event = event
        access.request = name.id
        guard roles.contains(principal.role) else {
            access.outcome = .refused
            try await write(access)
            throw .forbidden
        }
        access.reason = try ReasonHeader.read(request.headers)
        return Visit(self, by: principal, reason: access.reason, access)
    }

    fileprivate func principal() async throws(APIError) -> Principal {
        let token: String
        do {
            token = try BearerToken.read(request.headers)
        } catch {
            throw error.ofAPIKey
        }
        guard let key = APIKey(token) else { throw .apiKeyInvalid }
        let stored: StoredAPIKey?
        do {
            stored = try await services.audit.keys.key(key.id, in: tenant)
        } catch {
            throw .faulted(error)
        }
        guard let stored, key.matches(stored), stored.isGood(at: services.now()) else {
            throw .apiKeyInvalid
        }
        return Principal(key: stored.id, role: stored.role)
    }

    fileprivate func write(_ access: AccessRecord) async throws(APIError) {
        do {
            try await services.audit.accesses.record(access, in: tenant)
        } catch {
            throw .faulted(error == .overloaded ? .overloaded : .unavailable)
        }
    }
}

extension APIError {
    /// The same about an API key, of what was found out about a bearer token.
    fileprivate var ofAPIKey: APIError {
        switch self {
        case .accessTokenMissing: .apiKeyMissing
        case .accessTokenInvalid: .apiKeyInvalid
        default: self
        }
    }
}

extension Set<Role> {
    /// Everybody who reads the ledger.
    static let readers: Set<Role> = Set(Role.allCases)
    /// Who looks at those who look.
    static let overseers: Set<Role> = [.auditor, .admin]
}
