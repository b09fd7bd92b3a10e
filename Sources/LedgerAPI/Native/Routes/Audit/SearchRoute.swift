internal import HTTP
internal import Ledger
internal import LedgerSignIn

/// `GET /v1/search`: the accounts, identities and events that match an id, an e-mail, a number or a subject.
struct SearchRoute: Route {
    static let method = "GET"
    static let path = "/v1/search"
    static let operation = Operation(
        id: "search", tag: .log,
        summary:
            "The accounts, identities and events that an id, e-mail, number or subject identifies",
        about: "Anything but an id requires a role that may see personal data and a reason.",
        access: .principal(.readers),
        parameters: [
            Parameter(
                name: "q",
                schema: .text(
                    ExampleValue.account, Schema.TextRules(lengths: 1...SearchTerm.bytesMax)),
                about: "The term: \(SearchTerm.form)"
            ).required,
            ReasonHeader.parameter,
        ],
        answers: .json(SearchResult.schema), refusals: [.forbidden])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.search)
        let parameters = try QueryParameters(call)
        let term = try parameters.value("q", SearchTerm.form) { call.term($0) }
        guard let term else { throw QueryParameters.flaw("q", "is missing") }
        return try await call.found(by: term, auditRequest)
    }
}

/// `POST /v1/search`: the same with the term in the body, which proxies do not log.
struct SearchByBodyRoute: Route {
    static let method = "POST"
    static let path = "/v1/search"
    static let operation = Operation(
        id: "search_by_body", tag: .log,
        summary: "The same search, with the term in the body",
        about: "For a term that is personal data: proxies log addresses, and no bodies. Anything"
            + " but an id requires a role that may see personal data and a reason.",
        access: .principal(.readers), parameters: [ReasonHeader.beside],
        body: SearchBody.self, answers: .json(SearchResult.schema), refusals: [.forbidden])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.search)
        _ = try QueryParameters(call)
        let text = try call.body().text(SearchBody.query)
        guard let term = call.term(text) else {
            throw .invalidRequest(
                RequestFlaw("query must be \(SearchTerm.form)", at: .field("query")))
        }
        return try await call.found(by: term, auditRequest)
    }
}

/// The body of a search.
enum SearchBody: BodyForm {
    static let name = "SearchRequest"
    static let query = RequiredText(
        name: "query", bytesMax: SearchTerm.bytesMax,
        about: "The term: \(SearchTerm.form)", example: ExampleValue.account)
    static let members: [any BodyMember] = [query, ReasonHeader.member]
}

extension RouteCall {
    /// Reads a term, with the names that a phone number has in the tenant.
    fileprivate func term(_ text: String) -> SearchTerm? {
        var term = SearchTerm(
            text, named: RequestName.requestID(named:),
            number: CodeSettings.number)
        if let number = term?.phone {
            term?.addresses = services.codes.names(of: number, .phone, in: tenant)
        }
        return term
    }

    /// Searches, and records what was found before it is shown.
    fileprivate func found(
        by term: SearchTerm, _ auditRequest: AuditRequest
    ) async throws(APIError) -> HTTPResponse {
        let comparesPersonalData = try await auditRequest.comparesPersonalData(term)
        let found: SearchResult
        do {
            found = try await services.audit.searches.found(
                by: term, comparesPersonalData: comparesPersonalData, in: tenant)
        } catch {
            throw .faulted(error)
        }
        // Not before: only now is it known which accounts the response shows.
        try await auditRequest.record(found, by: term)
        return .json(bytes: found.json)
    }
}
