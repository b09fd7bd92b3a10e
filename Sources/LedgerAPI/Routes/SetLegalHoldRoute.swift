internal import HTTP
internal import Ledger

/// `POST /v1/accounts/{id}/holds`: keeps an account from being erased, for an administrator and with a
/// reason.
struct SetLegalHoldRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/holds"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let visit = try await call.visit(
            .setLegalHold, by: .administrators, account: call.namedAccount)
        _ = try QueryParameters(call.request, [])
        let account = try call.account()
        _ = try visit.requiredReason()
        let hold: HoldID = call.services.newID()
        try await visit.record(details: ["hold": hold.description])
        let command = SetLegalHold(
            account: account, newHold: hold, actor: .apiKey(visit.principal))
        guard case .holdSet = try await call.submit(.setLegalHold(command)) else {
            throw .faulted(.internalFailure)
        }
        return .json(HoldAnswer(account: account, hold: hold))
    }
}

/// A legal hold that was set.
struct HoldAnswer: JSONWritable {
    let account: AccountID
    let hold: HoldID

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("account", account.description)
            writer.member("hold", hold.description)
        }
    }
}
