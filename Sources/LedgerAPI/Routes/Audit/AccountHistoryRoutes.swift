internal import HTTP
internal import Ledger

/// `GET /v1/accounts/{id}`: the account as of a moment, replayed from the log; of an account that was
/// merged, the one that stands for it.
struct AccountAsOfRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(.readAccount, ["as_of"])
        let moment = try past.query.moment("as_of")
        try await past.record()
        return .json(
            bytes: try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.resolvedAccount(account, asOf: moment, in: tenant)?.json
            })
    }
}

/// `GET /v1/accounts/{id}/history`: every event that touches the account, a page at a time, and what
/// they prove.
struct AccountHistoryRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}/history"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(
            .readHistory, ["after", "as_of", "limit", QueryParameters.disclose])
        let after = try past.query.position("after")
        let moment = try past.query.moment("as_of")
        let limit = try past.query.limit()
        let isDisclosing = try await past.visit.isDisclosing(past.query)
        try await past.record(isDisclosed: isDisclosing)
        return .json(
            bytes: try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.history(
                    of: account, after: after, asOf: moment, limit: limit,
                    isDisclosing: isDisclosing, in: tenant)?.json(of: account)
            })
    }
}

/// `GET /v1/accounts/{id}/diff`: what changed about the account between two moments, and the events
/// that did.
struct AccountDiffRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}/diff"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(
            .readDifference, ["from", "to", "limit", QueryParameters.disclose])
        guard let from = try past.query.moment("from") else {
            throw QueryParameters.flaw("from", "is missing")
        }
        let to = try past.query.moment("to")
        let limit = try past.query.limit()
        let isDisclosing = try await past.visit.isDisclosing(past.query)
        try await past.record(isDisclosed: isDisclosing)
        return .json(
            bytes: try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.changes(
                    of: account, from: from, to: to, limit: limit, isDisclosing: isDisclosing,
                    in: tenant)?.json
            })
    }
}

/// `GET /v1/accounts/{id}/timeline`: the histories of the account and of all that merges made one with it,
/// interleaved, a page at a time.
struct AccountTimelineRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}/timeline"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(
            .readTimeline, ["after", "as_of", "limit", QueryParameters.disclose])
        let cursor = try past.query.timelineCursor()
        let moment = try past.query.moment("as_of")
        if let cursor, let moment, moment != .position(cursor.asOf) {
            throw QueryParameters.flaw("as_of", "is said by after already: leave it out")
        }
        let limit = try past.query.limit()
        let isDisclosing = try await past.visit.isDisclosing(past.query)
        let page: TimelinePage
        do {
            page = try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.timeline(
                    of: account, after: cursor, asOf: moment, limit: limit,
                    isDisclosing: isDisclosing, in: tenant)
            }
        } catch {
            try await past.record(isDisclosed: isDisclosing)
            throw error
        }
        // Only now is it known whose histories are shown; nothing is, before this is written.
        try await past.record(isDisclosed: isDisclosing, more: page.accessDetails)
        return .json(bytes: page.json)
    }
}

/// A principal's question about the past of one account.
struct PastCall: Sendable {
    let visit: Visit
    let query: QueryParameters
    private let call: RouteCall
    private let account: AccountID

    init(visit: Visit, query: QueryParameters, call: RouteCall, account: AccountID) {
        self.visit = visit
        self.query = query
        self.call = call
        self.account = account
    }

    /// Writes down what is about to be shown.
    func record(
        isDisclosed: Bool = false, more: [String: String] = [:]
    ) async throws(APIError) {
        try await visit.record(query, account: account, isDisclosed: isDisclosed, more: more)
    }

    /// Asks for the answer.
    ///
    /// - Throws: 404 for an account that is not known, 400 for moments that can't be, 500 for a history
    ///   that is not whole.
    func read<Value: Sendable>(
        _ question: (any HistoryReader, AccountID, TenantID) async throws(HistoryFault) -> Value?
    ) async throws(APIError) -> Value {
        let found: Value?
        do {
            found = try await question(call.services.audit.histories, account, call.tenant)
        } catch {
            throw answer(to: error)
        }
        guard let found else { throw .refused(.unknownAccount) }
        return found
    }

    private func answer(to fault: HistoryFault) -> APIError {
        switch fault {
        case .notReached(let size):
            .invalidRequest(
                RequestFlaw(
                    "The log has \(size) events: the position has not come yet",
                    at: parameter(notReachedBy: size).map { .parameter($0) }))
        case .backwards: QueryParameters.flaw("from", "must not be after to")
        case .unavailable: .faulted(.unavailable)
        case .damaged: .proofFailed
        }
    }

    /// The parameter that names a position which the log has not come to.
    private func parameter(notReachedBy size: Int64) -> String? {
        ["as_of", "from", "to"].first { name in
            guard case .position(let position)? = try? query.moment(name) else { return false }
            return position.value >= size
        } ?? ((try? query.timelineCursor()) == nil ? nil : "after")
    }
}

extension QueryParameters {
    /// Where a timeline goes on, by `after`.
    fileprivate func timelineCursor() throws(APIError) -> TimelineCursor? {
        try value("after", "the next of the page before") { TimelineCursor($0) }
    }
}

extension RouteCall {
    /// Lets in whoever may read histories, and reads which account is meant.
    func past(
        _ action: AccessAction, _ parameters: [String]
    ) async throws(APIError) -> PastCall {
        let visit = try await visit(action, by: .readers, account: namedAccount)
        let query = try QueryParameters(request, parameters)
        return PastCall(visit: visit, query: query, call: self, account: try account())
    }
}
