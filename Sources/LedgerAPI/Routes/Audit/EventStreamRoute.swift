internal import HTTP
internal import Ledger

/// `GET /v1/events/stream`: the log in commit order as server-sent events, from any position on, without
/// an end.
///
/// The format is that of the HTML standard, section 9.2. The id of an event is its position, which a
/// client sends back in `Last-Event-ID` after a broken connection, so that it goes on behind it.
struct EventStreamRoute: Route {
    static let method = "GET"
    static let path = "/v1/events/stream"

    private static let lastEventID = "Last-Event-ID"

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let visit = try await call.visit(.streamEvents, by: .readers)
        let parameters = try QueryParameters(
            call.request, ["after", "type", "account", "provider", "outcome", "from"])
        var query = try EventQuery(parameters, limit: EventStreams.pageEvents)
        var more: [String: String] = [:]
        if let last = try Self.lastPosition(call.request.headers) {
            query.after = last
            more[Self.lastEventID] = last.description
        }
        let streams = call.services.audit.streams
        guard let place = streams.place() else { throw .faulted(.overloaded) }
        try await visit.record(parameters, account: query.account, more: more)
        let feed = EventFeed(
            tenant: call.tenant, streams: streams, place: place, visit: visit, query: query)
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", "text/event-stream"),
                // Some proxies keep an answer back until it has ended unless they are told.
                ("X-Accel-Buffering", "no"),
            ]
        ) { await feed.run(into: $0) }
    }

    /// What a client that comes again has seen last; it counts more than `after` in the address, which
    /// such a client does not change.
    private static func lastPosition(_ headers: HTTPHeaders) throws(APIError) -> LogPosition? {
        let values = headers.values(lastEventID)
        guard let value = values.first else { return nil }
        guard values.count == 1, let position = LogPosition(digits: value) else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(lastEventID) must be one position: digits without a leading zero",
                    at: .header(lastEventID)))
        }
        return position
    }
}
