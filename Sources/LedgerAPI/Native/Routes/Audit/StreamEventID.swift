internal import Ledger

/// The position of a client in a stream: the id of the last event that it has seen.
struct StreamEventID: CustomStringConvertible {
    /// The field in which a client that reconnects sends it; it takes precedence over `after` in
    /// the URL, which such a client does not change.
    static let header = "Last-Event-ID"

    static let parameter = Parameter(
        name: header, location: .header,
        schema: .text(
            "41",
            Schema.TextRules(
                pattern: "^(0|[1-9][0-9]*)(-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$")),
        about: "The id of the last event that the client has seen; overrides `after`")

    let position: LogPosition
    /// Nil when only the position is known.
    let event: EventID?

    init(position: LogPosition, event: EventID?) {
        self.position = position
        self.event = event
    }

    /// Creates the id of an event.
    init(_ event: ShownEvent) {
        self.init(position: event.position, event: event.recorded?.id)
    }

    /// Reads `41-0190a1b2-c3d4-7000-8000-000000000001` or `41`; nil without the field.
    ///
    /// - Throws: 400 for anything else.
    init?(_ call: RouteCall) throws(APIError) {
        let values = try call.values(of: Self.parameter)
        guard let value = values.first else { return nil }
        let parts = value.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let event = parts.count > 1 ? EventID(String(parts[1])) : nil
        guard values.count == 1, let position = LogPosition(digits: String(parts[0])),
            parts.count == 1 || event != nil
        else {
            throw .invalidRequest(
                RequestFlaw(
                    "\(Self.header) must be the id of a stream event, or a position",
                    at: .header(Self.header)))
        }
        self.init(position: position, event: event)
    }

    var description: String { event.map { "\(position)-\($0)" } ?? "\(position)" }
}
