internal import HTTP
internal import Ledger

/// `GET /v1/conflicts`: refused claims to identities, with both parties and their resolution, in
/// pages.
struct ConflictsRoute: Route {
    static let method = "GET"
    static let path = "/v1/conflicts"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listConflicts, by: .readers)
        let parameters = try QueryParameters(
            call.request, ["state", "account", "after", "limit"])
        var query = ConflictQuery(limit: try parameters.limit())
        query.after = try parameters.position("after")
        query.state = try parameters.value("state", "open or resolved") {
            Conflict.State(rawValue: $0)
        }
        query.account = try parameters.value("account", "an account id") { AccountID($0) }
        try await auditRequest.record(parameters, account: query.account)
        do {
            return .json(
                bytes: try await call.services.audit.conflicts.conflicts(
                    matching: query, in: call.tenant
                ).json)
        } catch {
            throw .faulted(error)
        }
    }
}
