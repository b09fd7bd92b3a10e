internal import HTTP
internal import Ledger

/// `DELETE /v1/accounts/{id}/holds/{hold}`: ends a legal hold, for an administrator and with a reason.
struct LiftLegalHoldRoute: Route {
    static let method = "DELETE"
    static let path = "/v1/accounts/{id}/holds/{hold}"
    static let operation = Operation(
        id: "lift_legal_hold", tag: .erasure, summary: "End a legal hold",
        access: .principal(.administrators), parameters: [ReasonHeader.parameter.required],
        answers: .json(.empty),
        refusals: [
            .refused(.unknownAccount), .refused(.accountErased), .refused(.unknownHold),
        ])

    private static let done = Array("{}".utf8)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.liftLegalHold, account: call.namedAccount)
        _ = try QueryParameters(call)
        let account = try call.account()
        _ = try auditRequest.requiredReason()
        guard let hold = call.captures["hold"].flatMap({ HoldID($0) }) else {
            throw .refused(.unknownHold)
        }
        let command = LiftLegalHold(
            account: account, hold: hold, actor: .principal(auditRequest.principal))
        try await auditRequest.execute(command, details: ["hold": hold.description])
        return .json(bytes: Self.done)
    }
}
