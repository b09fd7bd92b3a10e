internal import Cryptography
internal import Encodings
internal import JSON
internal import Ledger

extension ShownEvent {
    static let properties: [Property] = [
        .required("position", .number), .optional("event_id", .event),
        .required("leaf", .hash, "The RFC 6962 leaf hash in base64url"),
        .required("entry", .anyObject.orNull, "The content; null for a damaged row"),
        .required("entry_base64", .text("e30="), "The exact bytes that are stored and hashed"),
        .optional("damage", .text("The entry is not valid"), "The damage of the row"),
        .optional("disclosures", .map(.text("grace@example.com")), "Personal data, by its name"),
    ]

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
