/// The database was restored from a backup, and what came after that is lost; or the log's name is, because
/// checkpoints were made up under it.
///
/// Checkpoints that were signed of a longer log are contradicted by what follows, so the log goes on under
/// another name: auditors see the break, and where it is.
package struct LedgerRestored: EventFact {
    /// The number of the origin that the log goes on under: 2, 3 and so on.
    package let origin: Int64
    /// The root of the last checkpoint that was signed before.
    package let root: Digest
    /// The size of the last checkpoint that was signed before.
    package let size: Int64

    /// States what was signed before, and where the log goes on.
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

    package init(details: ScannedDetails, accounts: [AccountID]) throws(EntryFault) {
        guard accounts.isEmpty else { throw .malformed("accounts") }
        var reader = details.reader
        origin = try reader.integer("origin")
        root = try reader.digest("root")
        size = try reader.integer("size")
        try reader.end()
    }
}
