internal import HTTP
internal import Ledger
internal import LedgerMessages

/// `GET /v1/audit/messages`: what became of messages to people, without recipients and contents.
struct MessagesRoute: Route {
    static let method = "GET"
    static let path = "/v1/audit/messages"
    static let operation = Operation(
        id: "list_messages", tag: .accounts,
        summary: "What became of messages to people, without recipients and contents",
        access: .principal([.support, .admin]),
        parameters: [
            Parameter(
                name: "account_id", schema: .account, about: "Only messages about this account",
                isInExample: true),
            Parameter(
                name: "state", schema: .choice(SentMessage.State.allCases.map(\.rawValue)),
                about: "Only messages in this state"),
            Parameter(
                name: "after", schema: .uuid(ExampleValue.session),
                about: "Only messages after this one"),
            .limit, ReasonHeader.parameter,
        ],
        answers: .json(MessagePage.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listMessages)
        let parameters = try QueryParameters(call)
        var query = MessageQuery(limit: try parameters.limit())
        query.account = try parameters.value("account_id", "an account id") { AccountID($0) }
        query.after = try parameters.value("after", "a message id") { MessageID($0) }
        query.state = try parameters.value("state", "a state") { SentMessage.State(rawValue: $0) }
        try await auditRequest.record(parameters, account: query.account)
        do {
            return .json(
                bytes: try await call.services.audit.messages.messages(
                    matching: query, in: call.tenant
                ).json)
        } catch {
            throw .faulted(error)
        }
    }
}
