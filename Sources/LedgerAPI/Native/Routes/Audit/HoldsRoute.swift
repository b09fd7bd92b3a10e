internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/holds`: the legal holds in force, in the order of their accounts.
struct HoldsRoute: Route {
    static let method = "GET"
    static let path = "/v1/holds"
    static let operation = Operation(
        id: "list_legal_holds", tag: .erasure,
        summary: "The legal holds in force, in the order of their accounts",
        access: .principal(.supportRoles),
        parameters: [
            Parameter(
                name: "after", schema: .account, about: "The `next` value of the previous page"),
            .limit.about("The maximum number of accounts"), ReasonHeader.parameter,
        ],
        answers: .json(HoldsAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listHolds)
        let parameters = try QueryParameters(call)
        let after = try parameters.value("after", "an account id") { AccountID($0) }
        let limit = try parameters.limit()
        try await auditRequest.record(parameters)
        do {
            return .json(
                HoldsAnswer(
                    page: try await call.services.audit.holds.holds(
                        after: after, accounts: limit, in: call.tenant)))
        } catch {
            throw .faulted(error)
        }
    }
}

/// A page of legal holds.
struct HoldsAnswer: JSONWritable {
    let page: HoldPage

    static let schema = Schema.object(
        "Holds",
        [
            .required(
                "holds",
                .list(
                    .object(
                        "ActiveHold",
                        [
                            .required("account", .account),
                            .required("hold", .uuid(ExampleValue.hold)),
                            .optional("made_at", .time, "The time in the id of the hold"),
                        ]))),
            .optional("next", .account, "For `after` of the next page"),
            .required("more", .flag(false)),
        ])

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("holds")
            writer.array { writer in
                for hold in page.holds {
                    writer.object { writer in
                        writer.named("account", hold.account)
                        writer.named("hold", hold.hold)
                        if hold.hold.isUUIDv7 {
                            writer.member("made_at", hold.hold.madeAt.description)
                        }
                    }
                }
            }
            if page.hasMore { writer.member("next", page.holds.last?.account.description) }
            writer.name("more")
            writer.flag(page.hasMore)
        }
    }
}
