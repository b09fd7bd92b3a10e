import Ledger

/// The body of a request about an event: the same bytes at each attempt.
enum WebhookBody {
    /// Writes a body; only the entry could need escapes, and it is inserted as the JSON it is.
    static func bytes(of event: StoredEvent) -> [UInt8] {
        let recorded = event.recorded
        var bytes: [UInt8] = []
        bytes.reserveCapacity(event.entry.count + 320)
        bytes.append(contentsOf: "{\"type\":\"\(recorded.event.name.rawValue)\"".utf8)
        bytes.append(contentsOf: ",\"timestamp\":\"\(recorded.recordedAt)\"".utf8)
        bytes.append(contentsOf: ",\"data\":{\"tenant\":\"\(recorded.tenant)\"".utf8)
        bytes.append(contentsOf: ",\"position\":\"\(recorded.position)\"".utf8)
        bytes.append(contentsOf: ",\"event_id\":\"\(recorded.id)\"".utf8)
        bytes.append(contentsOf: ",\"leaf\":\"\(event.leaf)\",\"entry\":".utf8)
        bytes.append(contentsOf: event.entry)
        bytes.append(contentsOf: "}}".utf8)
        return bytes
    }
}
