internal import Ledger
internal import TransparencyLog

/// Events as lines of JSON: `{"leaf":...,"disclosures":...,"entry":...}`.
///
/// `entry` is the exact stored text, so that its bytes can be extracted and hashed again; `leaf` is
/// the unpadded base64url form of the leaf hash, the form of `prev`.
package enum JSONLines {
    /// Returns the line of an event; with `disclosures` when the export discloses.
    package static func line(_ event: ExportedEvent, isDisclosed: Bool) -> [UInt8] {
        var line = JSONLine()
        line.begin("leaf")
        line.text(Digest(TreeHash.leaf(event.entry).bytes)?.description ?? "")
        if isDisclosed {
            line.member("disclosures")
            line.literal("{")
            for (index, disclosure) in event.disclosures.enumerated() {
                line.literal(index == 0 ? "" : ",")
                line.text(disclosure.disclosure.name.rawValue)
                line.literal(":")
                line.text(disclosure.disclosure.value)
            }
            line.literal("}")
        }
        line.member("entry")
        line.literal(event.entry)
        line.end()
        return line.bytes
    }
}
