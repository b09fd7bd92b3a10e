internal import HTTP
import JSON
internal import Ledger

/// `POST /v1/accounts/{id}/erasure/requests/{request_id}/confirm`: erases an account that another administrator asked
/// to erase.
struct ConfirmErasureRoute: Route {
    static let method = "POST"
    static let path = "/v1/accounts/{id}/erasure/requests/{request_id}/confirm"
    static let operation = Operation(
        id: "confirm_erasure", tag: .erasure,
        summary: "Erase an account that another administrator asked to erase",
        about:
            "Agrees to a preview of one's own. If the accounts have changed since the request, the"
            + " request is void. Repeating it after the erasure answers the same.",
        access: .principal(.administrators), parameters: [ReasonHeader.beside],
        body: ConfirmErasureBody.self, answers: .json(ErasedAnswer.schema),
        refusals: [
            .refused(.unknownAccount), .refused(.legalHold), .refused(.erasurePlanChanged),
            .refused(.unknownErasureRequest), .refused(.secondAdministratorRequired),
            .refused(.reauthenticationRequired),
        ])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(
            .confirmErasure, account: call.namedAccount)
        try await auditRequest.requireFreshSignIn()
        _ = try QueryParameters(call)
        let account = try call.account()
        let request = try call.erasureRequest()
        let digest = try call.body().text(ConfirmErasureBody.planDigest)
        // The basis is that of the request.
        let command = EraseAccount(
            account: account, basis: .dataSubjectRequest,
            agreement: call.agreement(to: digest, of: account), step: .confirm(request),
            actor: .principal(auditRequest.principal))
        let done = try await auditRequest.execute(
            command, details: ["erasure_request": request.description])
        guard case .erased(let erased) = done else { throw .faulted(.internalFailure) }
        return .json(ErasedAnswer(account: account, erased))
    }
}

/// `DELETE /v1/accounts/{id}/erasure/requests/{request_id}`: withdraws a request for an erasure, one's own or another
/// one's.
struct WithdrawErasureRoute: Route {
    static let method = "DELETE"
    static let path = "/v1/accounts/{id}/erasure/requests/{request_id}"
    static let operation = Operation(
        id: "withdraw_erasure", tag: .erasure, summary: "Withdraw a request for an erasure",
        about: "Any administrator may, also of another one's request.",
        access: .principal(.administrators), parameters: [ReasonHeader.parameter.required],
        answers: .json(.empty),
        refusals: [
            .refused(.unknownAccount), .refused(.accountErased),
            .refused(.unknownErasureRequest),
        ])

    private static let done = Array("{}".utf8)

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(
            .withdrawErasure, account: call.namedAccount)
        _ = try QueryParameters(call)
        let account = try call.account()
        let request = try call.erasureRequest()
        _ = try await auditRequest.execute(
            EraseAccount.Withdrawal(
                request, of: account, actor: .principal(auditRequest.principal)),
            details: ["erasure_request": request.description])
        return .json(bytes: Self.done)
    }
}

/// `GET /v1/erasure-requests`: the requests for erasures that can be confirmed.
struct ErasureRequestsRoute: Route {
    static let method = "GET"
    static let path = "/v1/erasure-requests"
    static let operation = Operation(
        id: "list_erasure_requests", tag: .erasure,
        summary: "The requests for erasures that can be confirmed, in the order of their accounts",
        access: .principal(.administrators),
        parameters: [
            Parameter(
                name: "account", schema: .account, about: "The account that the request names"),
            Parameter(
                name: "after", schema: .account, about: "The `next` value of the previous page"),
            .limit.about("The maximum number of requests"), ReasonHeader.parameter,
        ],
        answers: .json(ErasureRequestsAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listErasureRequests)
        let parameters = try QueryParameters(call)
        let account = try parameters.value("account", "an account id") { AccountID($0) }
        let after = try parameters.value("after", "an account id") { AccountID($0) }
        let limit = try parameters.limit()
        try await auditRequest.record(parameters)
        let page: ErasureRequestPage
        do {
            let holds = call.services.audit.holds
            if let account {
                let found = try await holds.erasureRequest(for: account, in: call.tenant)
                page = ErasureRequestPage(requests: found.map { [$0] } ?? [], hasMore: false)
            } else {
                page = try await holds.erasureRequests(
                    after: after, limit: limit, in: call.tenant)
            }
        } catch {
            throw .faulted(error)
        }
        return .json(ErasureRequestsAnswer(page: page, reader: auditRequest.principal))
    }
}

/// The body of a confirmation.
enum ConfirmErasureBody: BodyForm {
    static let name = "ConfirmErasureRequest"
    static let planDigest = RequiredText.planDigest
    static let members: [any BodyMember] = [planDigest, ReasonHeader.member]
}

extension RouteCall {
    /// Returns the request that the path names.
    ///
    /// - Throws: 404 for a malformed id, which names none.
    fileprivate func erasureRequest() throws(APIError) -> ErasureRequestID {
        guard let id = captures["request_id"].flatMap({ ErasureRequestID($0) }) else {
            throw .refused(.unknownErasureRequest)
        }
        return id
    }
}

/// A request for an erasure.
struct ErasureRequestAnswer: JSONWritable {
    private let request: ErasureRequest
    private let isYours: Bool

    /// Describes a request to one who may confirm or withdraw it.
    init(_ request: ErasureRequest, reader: Principal) {
        self.request = request
        isYours = request.asker.kind == reader.kind && request.asker.id == reader.id
    }

    static let schema = Schema.object(
        "ErasureRequest",
        [
            .required("request_id", .uuid(ExampleValue.erasureRequest)),
            .required("account", .account),
            .required(
                "asked_by", .text("staff:\(ExampleValue.account)"),
                "The principal, as in the access log"),
            .required("yours", .flag(false), "Whether the caller asked, and cannot confirm it"),
            .required(
                "basis",
                .choice(AccountErased.Basis.allCases.filter(\.isRequestable).map(\.rawValue))),
            .required("reason", .text("case 1")), .required("asked_at", .time),
            .required("expires_at", .time, "Until when it can be confirmed"),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("request_id", request.id.description)
            writer.member("account", request.account.description)
            writer.member("asked_by", request.asker.description)
            writer.name("yours")
            writer.flag(isYours)
            writer.member("basis", request.basis.rawValue)
            writer.member("reason", request.reason)
            writer.member("asked_at", request.askedAt.description)
            writer.member("expires_at", request.expiresAt.description)
        }
    }
}

/// A page of requests for erasures.
private struct ErasureRequestsAnswer: JSONWritable {
    let page: ErasureRequestPage
    let reader: Principal

    static let schema = Schema.object(
        "ErasureRequests",
        [
            .required("requests", .list(ErasureRequestAnswer.schema)),
            .optional("next", .account, "For `after` of the next page"),
            .required("more", .flag(false)),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("requests")
            writer.array { writer in
                for request in page.requests {
                    ErasureRequestAnswer(request, reader: reader).write(to: &writer)
                }
            }
            if page.hasMore { writer.member("next", page.requests.last?.account.description) }
            writer.name("more")
            writer.flag(page.hasMore)
        }
    }
}
