internal import HTTP
internal import Ledger

/// `GET /v1/accounts/{id}`: the account as of a moment, replayed from the log; for a merged
/// account, its survivor.
struct AccountAsOfRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}"
    static let operation = Operation(
        id: "get_account_as_of", tag: .accounts, summary: "An account as of a moment",
        about: "Replayed from the log. For a merged account, its survivor.",
        access: .principal(.readers), parameters: [.asOf, .disclose, ReasonHeader.parameter],
        answers: .json(ResolvedAccount.schema), refusals: .ofHistory)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(.readAccount)
        let moment = try past.query.moment("as_of")
        let isDisclosing = try await past.auditRequest.isDisclosing(past.query)
        guard !isDisclosing || moment == nil else {
            throw QueryParameters.flaw("as_of", "must be left out with disclose=true")
        }
        if !isDisclosing { try await past.record() }
        let resolved: ResolvedAccount
        do {
            resolved = try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.resolvedAccount(account, asOf: moment, in: tenant)
            }
        } catch {
            if isDisclosing { try await past.record(isDisclosed: true) }
            throw error
        }
        guard isDisclosing else { return .json(bytes: resolved.json) }
        // Not before: only now is it known whose data the response shows.
        let shown = resolved.found.account
        let isMerged = resolved.requested != shown.id
        try await past.record(
            isDisclosed: true, more: isMerged ? ["accounts": shown.id.description] : [:])
        return .json(bytes: resolved.json(disclosing: try await Self.data(of: shown, call)))
    }

    /// The maximum number of holds whose reasons are looked up.
    private static let holdsMax = 20

    /// Returns the e-mails of an account's identities, and the reasons for its holds.
    private static func data(
        of account: ReplayedAccount, _ call: RouteCall
    ) async throws(APIError) -> AccountPersonalData {
        let audit = call.services.audit
        do {
            var data = AccountPersonalData(
                emails: try await audit.searches.emails(of: [account.id], in: call.tenant),
                names: try await call.services.names.names(
                    of: account.links.map(\.identity), in: call.tenant))
            for hold in account.placedHolds.suffix(holdsMax) {
                data.holdReasons[hold.hold] = try await audit.accesses.reason(
                    of: hold, on: account.id, in: call.tenant)
            }
            return data
        } catch {
            throw .faulted(error)
        }
    }
}

/// `GET /v1/accounts/{id}/history`: every event that touches the account, in pages, and what they
/// prove.
struct AccountHistoryRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}/history"
    static let operation = Operation(
        id: "get_account_history", tag: .accounts, summary: "The events of an account",
        access: .principal(.readers),
        parameters: [.after, .asOf, .limit, .disclose, ReasonHeader.parameter],
        answers: .json(HistoryPage.schema), refusals: .ofHistory)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(.readHistory)
        let after = try past.query.position("after")
        let moment = try past.query.moment("as_of")
        let limit = try past.query.limit()
        let isDisclosing = try await past.auditRequest.isDisclosing(past.query)
        try await past.record(isDisclosed: isDisclosing)
        return .json(
            bytes: try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.history(
                    of: account, after: after, asOf: moment, limit: limit,
                    isDisclosing: isDisclosing, in: tenant)?.json(of: account)
            })
    }
}

/// `GET /v1/accounts/{id}/diff`: the changes of an account between two moments, and the events that
/// made them.
struct AccountDiffRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}/diff"
    static let operation = Operation(
        id: "get_account_diff", tag: .accounts,
        summary: "The changes of an account between two moments",
        access: .principal(.readers),
        parameters: [
            Parameter.from.required, .to, .limit, .disclose, ReasonHeader.parameter,
        ],
        answers: .json(AccountChanges.schema), refusals: .ofHistory)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(.readDifference)
        guard let from = try past.query.moment("from") else {
            throw QueryParameters.flaw("from", "is missing")
        }
        let to = try past.query.moment("to")
        let limit = try past.query.limit()
        let isDisclosing = try await past.auditRequest.isDisclosing(past.query)
        try await past.record(isDisclosed: isDisclosing)
        return .json(
            bytes: try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.changes(
                    of: account, from: from, to: to, limit: limit, isDisclosing: isDisclosing,
                    in: tenant)?.json
            })
    }
}

/// `GET /v1/accounts/{id}/timeline`: the interleaved histories of the account and of all accounts
/// merged with it, in pages.
struct AccountTimelineRoute: Route {
    static let method = "GET"
    static let path = "/v1/accounts/{id}/timeline"
    static let operation = Operation(
        id: "get_account_timeline", tag: .accounts,
        summary: "The events of an account and of all accounts merged with it",
        access: .principal(.readers),
        parameters: [
            .order,
            Parameter(
                name: "after", schema: .text("41-42"),
                about: "The `next` value of the previous page"),
            Parameter(
                name: "before", schema: .text("41-42"),
                about: "With `order=newest`, instead of `after`: the `next` value of the previous"
                    + " page"),
            .asOf, .limit, .disclose, ReasonHeader.parameter,
        ],
        answers: .json(TimelinePage.schema), refusals: .ofHistory)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let past = try await call.past(.readTimeline)
        let (order, cursor) = try past.query.timelineOrder()
        let moment = try past.query.moment("as_of")
        if let cursor, let moment, moment != .position(cursor.asOf) {
            let name = order == .oldest ? "after" : "before"
            throw QueryParameters.flaw("as_of", "is already part of \(name): leave it out")
        }
        let limit = try past.query.limit()
        let isDisclosing = try await past.auditRequest.isDisclosing(past.query)
        let page: TimelinePage
        do {
            page = try await past.read { (histories, account, tenant) throws(HistoryFault) in
                try await histories.timeline(
                    of: account, order, after: cursor, asOf: moment, limit: limit,
                    isDisclosing: isDisclosing, in: tenant)
            }
        } catch {
            try await past.record(isDisclosed: isDisclosing)
            throw error
        }
        // Not before: only now is it known whose histories the response shows.
        try await past.record(isDisclosed: isDisclosing, more: page.accessDetails)
        return .json(bytes: page.json)
    }
}

/// A principal's request about the history of one account.
struct HistoryCall: Sendable {
    let auditRequest: AuditRequest
    let query: QueryParameters
    private let call: RouteCall
    private let account: AccountID

    init(auditRequest: AuditRequest, query: QueryParameters, call: RouteCall, account: AccountID) {
        self.auditRequest = auditRequest
        self.query = query
        self.call = call
        self.account = account
    }

    /// Records the access before anything is shown.
    func record(
        isDisclosed: Bool = false, more: [String: String] = [:]
    ) async throws(APIError) {
        try await auditRequest.record(query, account: account, isDisclosed: isDisclosed, more: more)
    }

    /// Reads the answer.
    ///
    /// - Throws: 404 for an unknown account, 400 for invalid moments, 500 for an incomplete
    ///   history.
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
                    "The log has \(size) events and has not reached this position",
                    at: parameter(notReachedBy: size).map { .parameter($0) }))
        case .backwards: QueryParameters.flaw("from", "must not be after to")
        case .unavailable: .faulted(.unavailable)
        case .damaged: .proofFailed
        }
    }

    /// Returns the parameter whose position the log has not reached.
    private func parameter(notReachedBy size: Int64) -> String? {
        ["as_of", "from", "to"].first { name in
            guard case .position(let position)? = try? query.moment(name) else { return false }
            return position.value >= size
        } ?? ["after", "before"].first { query[$0] != nil }
    }
}

extension QueryParameters {
    /// Returns the order of a timeline, and the cursor of the previous page.
    fileprivate func timelineOrder() throws(APIError) -> (
        order: ReadingOrder, after: TimelineCursor?
    ) {
        try order("the next value of the previous page") { TimelineCursor($0) }
    }
}

extension RouteCall {
    /// Authorises a reader of histories, and reads which account the path names.
    func past(_ action: AccessAction) async throws(APIError) -> HistoryCall {
        let auditRequest = try await auditRequest(action, account: namedAccount)
        let query = try QueryParameters(self)
        return HistoryCall(
            auditRequest: auditRequest, query: query, call: self, account: try account())
    }
}

extension [APIError] {
    /// The errors of reading an account's history, with personal data or without any.
    fileprivate static let ofHistory: [APIError] = ofAccount + [.forbidden]
    fileprivate static let ofAccount: [APIError] = [.refused(.unknownAccount), .proofFailed]
}
