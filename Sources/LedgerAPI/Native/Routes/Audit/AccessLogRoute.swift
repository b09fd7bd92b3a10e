internal import Cryptography
internal import HTTP
internal import JSON
internal import Ledger

/// `GET /v1/access-log`: the recorded accesses, in order or newest first; reading them is recorded as well.
struct AccessLogRoute: Route {
    static let method = "GET"
    static let path = "/v1/access-log"
    static let operation = Operation(
        id: "list_accesses", tag: .log, summary: "The recorded accesses, in order or newest first",
        access: .principal(.accessLogReaders),
        parameters: [
            .order, .after, .before, .from, .to,
            Parameter(
                name: "principal",
                schema: .text(
                    AccessRecord.operatorText,
                    Schema.TextRules(
                        pattern: "^(operator|(api_key|staff):"
                            + "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$")
                ), about: "Only accesses by this principal"),
            .limit,
            ReasonHeader.parameter,
        ],
        answers: .json(AccessLogAnswer.schema))

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listAccesses)
        let parameters = try QueryParameters(call)
        var query = AccessQuery(limit: try parameters.limit())
        let start = try parameters.order()
        query.order = start.order
        query.after = start.after?.value
        query.from = try parameters.moment("from")
        query.through = try parameters.moment("to")
        query.principal = try parameters.value(
            "principal", "api_key:<id>, staff:<id> or operator", Self.principal)
        try await auditRequest.record(parameters)
        do {
            return .json(
                AccessLogAnswer(
                    page: try await call.services.audit.accesses.accesses(
                        matching: query, in: call.tenant)))
        } catch {
            throw .faulted(error)
        }
    }

    private static func principal(_ text: String) -> String? {
        text == AccessRecord.operatorText ? text : Principal.canonical(text)
    }
}

/// A page of the access log.
struct AccessLogAnswer: JSONWritable {
    let page: CursorPage<LoggedAccess>

    static let schema = Schema.object(
        "AccessLog", [.required("accesses", .list(.object("Access", access)))], .cursor)

    private static let access: [Property] = [
        .required("position", .number), .required("accessed_at", .time),
        .required("principal", .text("api_key:\(ExampleValue.session)")),
        .required("role", .text(Role.auditor.rawValue)),
        .required("action", .text(AccessAction.listAccesses.rawValue)),
        .optional("account", .account), .optional("event", .event),
        .required("details", .map(.text("10")), "The parameters of the request"),
        .required("disclosed", .flag(false), "Whether personal data was shown"),
        .optional("reason", .text("case 1")),
        .required("outcome", .choice(["allowed", "refused"])),
        .optional("request", .uuid(ExampleValue.session)),
    ]

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("accesses")
            writer.array { writer in
                for access in page.elements { Self.write(access, to: &writer) }
            }
            writer.cursor(of: page)
        }
    }

    private static func write(_ access: LoggedAccess, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("position", String(access.position))
            writer.member("accessed_at", access.at.description)
            writer.member("principal", access.principal)
            writer.member("role", access.role)
            writer.member("action", access.action)
            writer.member("account", access.account?.description)
            writer.member("event", access.event?.description)
            writer.name("details")
            writer.object { writer in
                let details = JSONValue(parsing: Array(access.details.utf8))?.members ?? [:]
                for (name, value) in details.sorted(by: { $0.key < $1.key })
                where name.utf8.allSatisfy(Self.isNameCharacter) {
                    writer.member(name, value.string)
                }
            }
            writer.name("disclosed")
            writer.flag(access.isDisclosed)
            writer.member("reason", access.reason)
            writer.member("outcome", access.outcome)
            writer.member("request", access.request?.description)
        }
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        [UInt8(ascii: "_"), UInt8(ascii: "-")].contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

extension JSONWriter {
    /// Writes the cursor after a page, and whether more elements follow.
    mutating func cursor<Element>(of page: CursorPage<Element>) {
        member("next", page.cursor.map(String.init))
        name("more")
        flag(page.hasMore)
    }
}
