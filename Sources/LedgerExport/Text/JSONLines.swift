internal import Encodings
internal import JSON
package import Ledger
internal import TransparencyLog

/// Events as lines of JSON: `{"leaf":...,"disclosures":...,"entry":...}`.
///
/// `entry` is the exact stored text, so that its bytes can be extracted and hashed again; `leaf` is
/// the unpadded base64url form of the leaf hash, the form of `prev`.
package enum JSONLines {
    /// Returns the line of an event; with `disclosures` when the export discloses.
    package static func line(_ event: ExportedEvent, isDisclosed: Bool) -> [UInt8] {
        line(
            entry: event.entry, leaf: Base64URL.encode(TreeHash.leaf(event.entry).bytes),
            disclosures: isDisclosed ? event.disclosures.map(\.disclosure) : nil)
    }

    /// Returns the line of an event, without `disclosures` if they are nil.
    package static func line(
        entry: [UInt8], leaf: String, disclosures: [Disclosure]?
    ) -> [UInt8] {
        var writer = JSONWriter(reserving: entry.count + 512)
        writer.line { writer in
            writer.member("leaf", leaf)
            if let disclosures {
                writer.name("disclosures")
                writer.object { writer in
                    for disclosure in disclosures {
                        writer.member(disclosure.name.rawValue, disclosure.value)
                    }
                }
            }
            writer.name("entry")
            writer.json(entry)
        }
        return writer.bytes
    }
}
