internal import HTTP
internal import Ledger

/// `GET /v1/search`: the accounts, identities and events that match an id, an e-mail or a subject.
struct SearchRoute: Route {
    static let method = "GET"
    static let path = "/v1/search"
    static let operation = Operation(
        id: "search", tag: .log,
        summary:
            "The accounts, identities and events that an id, an e-mail or a subject identifies",
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
        let term = try parameters.value("q", SearchTerm.form) { text in
            SearchTerm(text, named: RequestName.requestID(named:))
        }
        guard let term else { throw QueryParameters.flaw("q", "is missing") }
        let comparesPersonalData = try await auditRequest.comparesPersonalData(term)
        let found: SearchResult
        do {
            found = try await call.services.audit.searches.found(
                by: term, comparesPersonalData: comparesPersonalData, in: call.tenant)
        } catch {
            throw .faulted(error)
        }
        // Not before: only now is it known which accounts the response shows.
        try await auditRequest.record(found, by: term)
        return .json(bytes: found.json)
    }
}
