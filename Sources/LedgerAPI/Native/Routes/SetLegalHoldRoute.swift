internal import HTTP
import JSON
internal import Ledger

/// `POST /v1/accounts/{id}/holds`: prevents an account from being erased, for an administrator and
/// with a reason.
///
/// Each request sets another hold; ``PutLegalHoldRoute`` can be repeated.
struct SetLegalHoldRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/holds"
    static let operation = Operation(
        id: "set_legal_hold", tag: .erasure, summary: "Prevent an account from being erased",
        about: "Each request sets another hold.", access: .principal(.administrators),
        parameters: [ReasonHeader.beside], body: ReasonBody.self,
        answers: .json(HoldAnswer.schema),
        refusals: [.refused(.unknownAccount), .refused(.accountErased), .refused(.tooManyHolds)])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.holdRequest()
        return try await call.set(call.services.newID(), on: try call.account(), by: auditRequest)
    }
}

/// `PUT /v1/accounts/{id}/holds/{hold}`: sets a hold under an id that the caller has generated.
///
/// While the hold is in force, repeating it answers the same and appends nothing.
struct PutLegalHoldRoute: Route {
    static let method = "PUT"
    static let path = "/v1/accounts/{id}/holds/{hold}"
    static let operation = Operation(
        id: "put_legal_hold", tag: .erasure,
        summary: "Prevent an account from being erased, under an id of the caller's",
        about: "Repeating it answers the same. The id is a UUIDv7 generated within the last few"
            + " minutes.",
        access: .principal(.administrators), parameters: [ReasonHeader.parameter.required],
        answers: .json(HoldAnswer.schema),
        refusals: [.refused(.unknownAccount), .refused(.accountErased), .refused(.tooManyHolds)])

    /// The maximum difference between an id's time and now, in seconds.
    ///
    /// After a restore, the time distinguishes holds that were set since an erasure from those
    /// lifted before it.
    private static let ageSecondsMax: Int64 = 600

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.holdRequest()
        let account = try call.account()
        guard let hold = call.captures["hold"].flatMap({ HoldID($0) }), hold.isUUIDv7,
            abs(hold.madeAt.seconds - call.now.seconds) <= Self.ageSecondsMax
        else {
            throw QueryParameters.flaw(
                "hold", "must be a UUIDv7 generated within the last few minutes")
        }
        return try await call.set(hold, on: account, by: auditRequest)
    }
}

extension RouteCall {
    fileprivate func holdRequest() async throws(APIError) -> AuditRequest {
        let auditRequest = try await auditRequest(.setLegalHold, account: namedAccount)
        _ = try QueryParameters(self)
        return auditRequest
    }

    fileprivate func set(
        _ hold: HoldID, on account: AccountID, by auditRequest: AuditRequest
    ) async throws(APIError) -> HTTPResponse {
        let command = SetLegalHold(
            account: account, newHold: hold, actor: .principal(auditRequest.principal))
        let hold = try await auditRequest.execute(command, details: ["hold": hold.description])
        return .json(HoldAnswer(account: account, hold: hold))
    }
}

/// A legal hold that was set.
struct HoldAnswer: JSONWritable {
    let account: AccountID
    let hold: HoldID

    static let schema = Schema.object(
        "Hold",
        [.required("account", .account), .required("hold", .uuid(ExampleValue.newHold))])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("account", account.description)
            writer.member("hold", hold.description)
        }
    }
}
