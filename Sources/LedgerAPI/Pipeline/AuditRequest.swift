internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// An authorised request of a principal; nothing has been disclosed yet.
struct AuditRequest: Sendable {
    let principal: Principal
    /// The reason of the request; nil when it states none.
    let reason: String?

    private let call: RouteCall
    /// The session of the console; nil for an API key.
    private let session: StaffSessions.Session?
    private let access: AccessRecord

    init(
        _ call: RouteCall, by authenticated: RouteCall.Authenticated, reason: String?,
        _ access: AccessRecord
    ) {
        self.call = call
        principal = authenticated.principal
        session = authenticated.session
        self.reason = reason
        self.access = access
    }

    /// Checks that personal data may be shown.
    ///
    /// - Parameters:
    ///   - details: the part of the request that asks for it, for the record of a refusal.
    ///   - coversAllAccounts: whether the request covers all accounts, and not one account or event.
    /// - Throws: `forbidden`, which is recorded, for a role that may see none, or `accountNotNamed`
    ///   for one that may not see that of all accounts; `reasonMissing`.
    func authorizeDisclosure(
        _ details: [String: String], coversAllAccounts: Bool
    ) async throws(APIError) {
        guard principal.role.maySeePersonalData else { throw try await refusal(details) }
        guard !coversAllAccounts || principal.role.mayDiscloseAllAccounts else {
            throw try await refusal(details, as: .accountNotNamed)
        }
        _ = try requiredReason()
    }

    /// Checks whether a term may be compared with personal data.
    ///
    /// That requires a role that may see it, and a reason. Ids are looked up for every role.
    ///
    /// - Throws: 403, which is recorded, for a role that may see none; 400 without a reason.
    func comparesPersonalData(_ term: SearchTerm) async throws(APIError) -> Bool {
        if term.id != nil { return principal.role.maySeePersonalData && reason != nil }
        guard principal.role.maySeePersonalData else {
            throw try await refusal(["kind": term.kind.rawValue])
        }
        _ = try requiredReason()
        return true
    }

    /// Returns the reason of a request that requires one.
    ///
    /// - Throws: `reasonMissing` without one.
    func requiredReason() throws(APIError) -> String {
        guard let reason else { throw .reasonMissing }
        return reason
    }

    /// Checks that a person of the staff has signed in within the last minutes; an API key has nothing to repeat.
    ///
    /// - Throws: 403, which is recorded, after an older sign-in.
    func requireFreshSignIn() async throws(APIError) {
        guard let session, !session.isFresh(at: call.services.now()) else { return }
        throw try await refusal([:], as: .refused(.reauthenticationRequired))
    }

    /// Records an access; to be called before anything is shown.
    ///
    /// - Throws: 503 when it cannot be recorded.
    func record(
        _ details: [String: String], account: AccountID?, isDisclosed: Bool
    ) async throws(APIError) {
        var access = access
        access.account = account ?? access.account
        access.details = details
        access.isDisclosed = isDisclosed
        try await call.write(access)
    }

    /// Records another action of the same request, after it was done.
    ///
    /// - Throws: 503 when it cannot be recorded.
    func record(_ action: AccessAction, _ details: [String: String]) async throws(APIError) {
        var access = access
        access.action = action
        access.details = details
        try await call.write(access)
    }

    /// Records a search and its results before they are shown; never the term itself.
    ///
    /// - Throws: 503 when it cannot be recorded.
    func record(_ found: SearchResult, by term: SearchTerm) async throws(APIError) {
        var access = access
        access.details = found.details(of: term)
        try await call.write(access)
    }

    /// Records a command, then executes it and returns its own result.
    ///
    /// If the ledger refuses it, a second record of the same request says so.
    /// - Throws: the command's refusal or fault; 503 when either record cannot be written.
    func execute<Request: LedgerRequest>(
        _ request: Request, details: [String: String] = [:]
    ) async throws(APIError) -> Request.Success {
        _ = try requiredReason()
        var access = access
        access.details = details
        try await call.write(access)
        do {
            return try await call.submit(request)
        } catch {
            if case .refused = error {
                access.details["refusal"] = call.surface.word(for: error)
                access.outcome = .refused
                try await call.write(access)
            }
            throw error
        }
    }

    /// Checks whether the principal's key or session is still valid, as it was when the request began.
    ///
    /// The check is no use of a session, which an open stream must not keep from ending.
    ///
    /// - Throws: 503 when that cannot be determined.
    func isAuthorized() async throws(APIError) -> Bool {
        do {
            return try await call.authenticated(isUse: false).principal == principal
        } catch {
            guard case .faulted = error else { return false }
            throw error
        }
    }

    /// Records a denied access and returns the error for the principal.
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
    /// A principal, with the session of the console by which it was authenticated.
    struct Authenticated {
        let principal: Principal
        let session: StaffSessions.Session?
    }

    /// Authenticates and authorises a principal by its API key, or by its session of the console.
    ///
    /// Neither is cached: a revoked key and an ended session are refused from the next request on.
    ///
    /// - Parameters:
    ///   - action: the name of the action in the access log.
    ///   - account: the account that the path names.
    ///   - event: the event that the path names.
    /// - Returns: the authorised request, of which only refusals have been recorded yet.
    /// - Throws: 401 without a valid key of this tenant or a live session; 403, which is recorded, for another
    ///   role, and 403 for a person without a role in this tenant; 400 for a malformed reason; 503 when too many requests of principals are in progress, or a
    ///   refusal cannot be recorded.
    func auditRequest(
        _ action: AccessAction, account: AccountID? = nil, event: EventID? = nil
    ) async throws(APIError) -> AuditRequest {
        let authenticated = try await authenticated(isUse: true)
        let principal = authenticated.principal
        // Last, so that a request without a valid key takes no permit.
        try acquirePermit()
        var access = AccessRecord(by: principal, action)
        access.account = account
        access.event = event
        access.request = name.id
        guard operation.roles.contains(principal.role) else {
            access.outcome = .refused
            try await write(access)
            throw .forbidden
        }
        access.reason = try surface.reason(of: self)
        return AuditRequest(self, by: authenticated, reason: access.reason, access)
    }

    fileprivate func authenticated(isUse: Bool) async throws(APIError) -> Authenticated {
        if let secret = try staffSecret() {
            guard let session = try await staffSession(of: secret, isUse: isUse) else {
                throw .apiKeyInvalid
            }
            guard let role = session.role(in: tenant) else { throw .forbidden }
            return Authenticated(
                principal: Principal(staff: session.person.id, role: role), session: session)
        }
        return Authenticated(principal: try await keyHolder(), session: nil)
    }

    private func keyHolder() async throws(APIError) -> Principal {
        let token: String
        do {
            token = try bearerToken()
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
    /// The API-key counterpart of a bearer token's error.
    fileprivate var ofAPIKey: APIError {
        switch self {
        case .accessTokenMissing: .apiKeyMissing
        case .accessTokenInvalid: .apiKeyInvalid
        default: self
        }
    }
}

extension Set<Role> {
    /// The roles that may read the ledger.
    static let readers: Set<Role> = Set(Role.allCases)
    /// The roles that may read the access log.
    static let accessLogReaders: Set<Role> = [.auditor, .admin]
}
