/// The database was restored from a backup and later events were lost; or the log's name was
/// abandoned, because forged checkpoints exist under it.
///
/// Checkpoints that were signed for a longer log are contradicted by what follows, so the log
/// continues under another name, which shows auditors the break and its position.
package struct LedgerRestored: EventFact {
    /// The number of the origin under which the log continues: 2, 3 and so on.
    package let origin: Int64
    /// The root of the last checkpoint signed before.
    package let root: Digest
    /// The size of the last checkpoint signed before.
    package let size: Int64

    /// States the last signed checkpoint and the new origin.
    package init(origin: Int64, root: Digest, size: Int64) {
        self.origin = origin
        self.root = root
        self.size = size
    }

    package var outcome: Event.Outcome { .accepted }
    package var accounts: [AccountID] { [] }

    package var details: EntryDetails {
        EntryDetails([
            ("origin", String(origin)), ("root", root.description), ("size", String(size)),
        ])
    }

    package var verb: String { "was restored" }
    package var attributes: EventAttributes { EventAttributes() }
    package var requiredDisclosures: [Disclosure.Name] { [] }

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        guard accounts.isEmpty else { throw .malformed("accounts") }
        var reader = details.reader
        origin = try reader.integer("origin")
        root = try reader.digest("root")
        size = try reader.integer("size")
        try reader.end()
    }
}
