internal import Cryptography
internal import Encodings
internal import JSON
internal import Ledger

extension ShownEvent {
    /// Writes the members of the event into an open object.
    func writeMembers(to writer: inout JSONWriter) {
        writer.member("position", position.description)
        writer.member("event_id", recorded?.id.description)
        writer.member("leaf", Base64URL.encode(SHA256.leafHash(entry)))
        writer.name("entry")
        // Entries that decode are canonical JSON; other bytes are shown as `entry_base64` only.
        if recorded == nil { writer.null() } else { writer.json(entry) }
        writer.member("entry_base64", Base64.encode(entry))
        writer.member("damage", damage)
        guard let disclosures else { return }
        writer.name("disclosures")
        writer.object { writer in
            for disclosure in disclosures {
                writer.member(disclosure.name.rawValue, disclosure.value)
            }
        }
    }
}
