internal import HTTP
internal import Ledger

/// `GET /v1/conflicts`: refused claims to identities, with both parties and their resolution, in
/// pages.
struct ConflictsRoute: Route {
    static let method = "GET"
    static let path = "/v1/conflicts"
    static let operation = Operation(
        id: "list_conflicts", tag: .log, summary: "Refused claims to identities, in pages",
        access: .principal(.readers),
        parameters: [
            Parameter(
                name: "state",
                schema: .choice([
                    Conflict.State.open.rawValue, Conflict.State.resolved.rawValue,
                ]), about: "Only conflicts in this state"),
            .account, .order, .after, .before, .limit,
            ReasonHeader.parameter,
        ],
        answers: .json(ConflictPage.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listConflicts)
        let parameters = try QueryParameters(call)
        var query = ConflictQuery(limit: try parameters.limit())
        (query.order, query.after) = try parameters.order()
        query.state = try parameters.value("state", "open or resolved") {
            Conflict.State(rawValue: $0)
        }
        query.account = try parameters.value("account", "an account id") { AccountID($0) }
        try await auditRequest.record(parameters, account: query.account)
        do {
            return .json(
                bytes: try await call.services.audit.conflicts.conflicts(
                    matching: query, in: call.tenant
                ).json(showingNotes: auditRequest.principal.role.maySeePersonalData))
        } catch {
            throw .faulted(error)
        }
    }
}
