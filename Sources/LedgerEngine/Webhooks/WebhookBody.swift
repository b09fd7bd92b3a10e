import JSON
import Ledger

/// The body of a request about an event: the same bytes at each attempt.
enum WebhookBody {
    /// Writes a body with the entry as the JSON it is.
    static func bytes(of event: StoredEvent) -> [UInt8] {
        let recorded = event.recorded
        var writer = JSONWriter(reserving: event.entry.count + 320)
        writer.object { writer in
            writer.member("type", recorded.event.name.rawValue)
            writer.member("timestamp", recorded.recordedAt.description)
            writer.name("data")
            writer.object { writer in
                writer.member("tenant", recorded.tenant.description)
                writer.member("position", recorded.position.description)
                writer.member("event_id", recorded.id.description)
                writer.member("leaf", event.leaf.description)
                writer.name("entry")
                writer.json(event.entry)
            }
        }
        return writer.bytes
    }
}
