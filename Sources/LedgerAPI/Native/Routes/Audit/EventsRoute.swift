internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/events`: the log in commit order or newest first, filtered.
struct EventsRoute: Route {
    static let method = "GET"
    static let path = "/v1/events"
    static let operation = Operation(
        id: "list_events", tag: .log, summary: "The log in commit order or newest first, filtered",
        access: .principal(.readers),
        parameters: [
            .order, .after, .before, .eventType, .account, .eventProvider, .outcome, .actor,
            .eventIdentity, .eventRequest, .from, .to, .limit, .disclose, ReasonHeader.parameter,
        ],
        answers: .json(EventsAnswer.schema),
        refusals: [.forbidden, .accountNotNamed, .proofFailed])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listEvents)
        let parameters = try QueryParameters(call)
        let query = try EventQuery(parameters, limit: parameters.limit())
        let isDisclosing = try await auditRequest.isDisclosing(
            parameters, coversAllAccounts: query.account == nil)
        try await auditRequest.record(parameters, account: query.account, isDisclosed: isDisclosing)
        do {
            return .json(
                EventsAnswer(
                    page: try await call.services.audit.events.events(
                        matching: query, in: call.tenant, isDisclosing: isDisclosing)))
        } catch {
            throw .eventsNotRead(error)
        }
    }
}

extension APIError {
    /// The error for events that are not shown: an event that no server has appended is never
    /// passed on.
    static func eventsNotRead(_ fault: LedgerFault) -> APIError {
        if case .internalFailure = fault { .proofFailed } else { .faulted(fault) }
    }
}

extension EventQuery {
    /// Reads the filters of a query.
    ///
    /// - Throws: 400 for a malformed value.
    init(_ parameters: QueryParameters, limit: Int) throws(APIError) {
        self.init(limit: limit)
        (order, after) = try parameters.order()
        type = try parameters.value(
            "type", "the name of an event, such as ProviderLinked", Event.Name.init(rawValue:))
        account = try parameters.value("account", "an account id") { AccountID($0) }
        provider = try parameters.value("provider", "a provider name", ProviderName.init)
        outcome = try parameters.value(
            "outcome", "accepted or refused", Event.Outcome.init(rawValue:))
        actor = try parameters.value("actor", ActorFilter.form, ActorFilter.init)
        identity = try parameters.value("identity", "an identity id") { IdentityID($0) }
        request = try parameters.value("request", "the id of a request") { RequestID($0) }
        from = try parameters.moment("from")
        through = try parameters.moment("to")
    }
}

/// A page of the log.
struct EventsAnswer: JSONWritable {
    let page: CursorPage<ShownEvent>

    static let schema = Schema.object(
        "Events", [.required("events", .list(.object("Event", ShownEvent.properties)))], .cursor)

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("events")
            writer.array { writer in
                for event in page.elements {
                    writer.object { event.writeMembers(to: &$0) }
                }
            }
            writer.cursor(of: page)
        }
    }
}

extension Parameter {
    static let eventType = Parameter(
        name: "type", schema: .choice(Event.Name.allCases.map(\.rawValue)),
        about: "Only events of this type")
    static let eventProvider = Parameter(
        name: "provider", schema: .provider, about: "Only events of this provider")
    static let outcome = Parameter(
        name: "outcome", schema: .choice(["accepted", "refused"]),
        about: "Only events with this outcome")
    static let actor = Parameter(
        name: "actor",
        schema: .text(
            "account:\(ExampleValue.account)", Schema.TextRules(pattern: ActorFilter.pattern)),
        about: "Only events of this actor: \(ActorFilter.form)")
    static let eventIdentity = Parameter(
        name: "identity", schema: .identity, about: "Only events that name this identity")
    static let eventRequest = Parameter(
        name: "request", schema: .uuid(ExampleValue.session),
        about: "Only events of the request with this id")
}
