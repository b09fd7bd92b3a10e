internal import Cryptography
internal import Ledger

extension JSONWriter {
    /// Writes an event: where it stands, what it says, and the exact bytes that are hashed.
    ///
    /// `entry` is the stored text itself; `entry_base64` spares whoever checks its hash from cutting it
    /// out. `disclosures` is there only where personal data was asked for.
    mutating func event(_ event: ReplayedEvent, sequence: Int64? = nil) {
        object { writer in
            writer.name("position")
            writer.text(event.recorded.position.description)
            if let sequence {
                writer.name("seq")
                writer.text(String(sequence))
            }
            writer.name("event_id")
            writer.text(event.recorded.id.description)
            writer.name("leaf")
            writer.text(event.leaf.description)
            writer.name("entry")
            writer.json(event.entry)
            writer.name("entry_base64")
            writer.text(Base64.encode(event.entry))
            guard let disclosed = event.disclosed else { return }
            writer.name("disclosures")
            writer.object { writer in
                for (name, value) in disclosed.values {
                    writer.name(name.rawValue)
                    writer.text(value)
                }
            }
        }
    }
}
