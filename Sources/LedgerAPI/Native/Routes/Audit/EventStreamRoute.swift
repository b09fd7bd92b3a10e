internal import HTTP
internal import Ledger

/// `GET /v1/events/stream`: the log in commit order as endless server-sent events, from any
/// position.
///
/// The format is that of the HTML standard, section 9.2. The id of an event is its position and its
/// event id, which a client sends back in `Last-Event-ID` after a broken connection to resume
/// behind it. The event id reveals a replaced log: after a restore, the same position holds another
/// event, or none.
struct EventStreamRoute: Route {
    static let method = "GET"
    static let path = "/v1/events/stream"
    static let operation = Operation(
        id: "stream_events", tag: .log,
        summary: "The log in commit order, as endless server-sent events",
        access: .principal(.readers),
        parameters: [
            .after, .eventType, .account, .eventProvider, .outcome, .actor, .eventIdentity,
            .eventRequest, .from, StreamEventID.parameter, ReasonHeader.parameter,
        ],
        answers: .text(
            "text/event-stream", "id: 41-\(ExampleValue.event)\nevent: SignedIn\ndata: {}\n\n"),
        refusals: [.eventNotFound, .proofFailed], headers: ["X-Accel-Buffering"])

    func answer(_ call: RouteCall) async throws(APIError) -> HTTPResponse {
        let auditRequest = try await call.auditRequest(.streamEvents)
        let parameters = try QueryParameters(call)
        var query = try EventQuery(parameters, limit: EventStreams.pageEvents)
        let last = try StreamEventID(call)
        if let last { query.after = last.position }
        let streams = call.services.audit.streams
        guard let slot = streams.slot(for: call.tenant) else { throw .faulted(.overloaded) }
        try await auditRequest.record(
            parameters, account: query.account,
            more: last.map { [StreamEventID.header: $0.description] } ?? [:])
        var seen = last ?? query.after.map { StreamEventID(position: $0, event: nil) }
        if let position = seen {
            seen = try await Self.expect(position, in: call.tenant, streams.events)
        }
        let feed = EventStreamWriter(
            tenant: call.tenant, tenants: call.services.tenants, streams: streams, slot: slot,
            auditRequest: auditRequest,
            query: query, seen: seen)
        return HTTPResponse(
            status: 200,
            headers: [
                ("Content-Type", "text/event-stream"),
                // Some proxies buffer a response to its end unless this field is set.
                ("X-Accel-Buffering", "no"),
            ], mayEndEarly: true
        ) { await feed.run(into: $0) }
    }

    /// Checks that the last event that a client has seen is in the log.
    ///
    /// - Returns: its whole id.
    /// - Throws: 404 when it is not: a client that resumed after it would miss the events that
    ///   replaced it.
    private static func expect(
        _ seen: StreamEventID, in tenant: TenantID, _ events: any EventReader
    ) async throws(APIError) -> StreamEventID {
        var query = EventQuery(limit: 1)
        query.after = seen.position.value > 0 ? LogPosition(seen.position.value - 1) : nil
        let found: ShownEvent?
        do {
            found = try await events.events(matching: query, in: tenant, isDisclosing: false)
                .elements.first
        } catch {
            throw .eventsNotRead(error)
        }
        guard let found, found.position == seen.position,
            seen.event == nil || seen.event == found.recorded?.id
        else { throw .eventNotFound }
        return StreamEventID(found)
    }
}
