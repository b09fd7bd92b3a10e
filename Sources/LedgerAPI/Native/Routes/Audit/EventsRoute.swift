internal import HTTP
import JSON
internal import Ledger

/// `GET /v1/events`: the log in commit order, filtered.
struct EventsRoute: Route {
    static let method = "GET"
    static let path = "/v1/events"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.listEvents, by: .readers)
        let parameters = try QueryParameters(
            call.request,
            [
                "after", "type", "account", "provider", "outcome", "from", "to", "limit",
                QueryParameters.disclose,
            ])
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
        after = try parameters.position("after")
        type = try parameters.value(
            "type", "the name of an event, such as ProviderLinked", Event.Name.init(rawValue:))
        account = try parameters.value("account", "an account id") { AccountID($0) }
        provider = try parameters.value("provider", "a provider name", ProviderName.init)
        outcome = try parameters.value(
            "outcome", "accepted or refused", Event.Outcome.init(rawValue:))
        from = try parameters.moment("from")
        through = try parameters.moment("to")
    }
}

/// A page of the log.
struct EventsAnswer: JSONWritable {
    let page: CursorPage<ShownEvent>

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
