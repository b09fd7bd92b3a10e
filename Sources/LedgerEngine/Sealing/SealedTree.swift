import Ledger
import TransparencyLog

/// A sealer's state of one tenant's tree between two passes.
struct SealedTree {
    /// The log's name.
    let origin: NoteKeyName
    /// The tree over all events whose hashes are stored.
    private(set) var stored: CompactRange
    /// The tree that was signed last; empty when none was.
    private(set) var signed: CompactRange
    /// The tree that was signed last, extended by the events after it that were read again.
    var reread: CompactRange

    /// Creates the state from the stored hashes.
    init(origin: NoteKeyName, stored: CompactRange, signed: CompactRange) {
        self.origin = origin
        self.stored = stored
        self.signed = signed
        reread = signed
    }

    /// The number of hashes that are stored.
    var hashCount: Int64 { StoredHashIndex.count(leaves: stored.size) }

    /// Adds entries; returns the hashes that are now known, in stored order.
    mutating func append(_ entries: [[UInt8]]) -> [TreeHash] {
        var hashes: [TreeHash] = []
        hashes.reserveCapacity(entries.count * 2)
        for entry in entries {
            stored.append(TreeHash.leaf(entry), completing: &hashes)
        }
        return hashes
    }

    /// The checkpoint to be signed now.
    var checkpoint: Checkpoint {
        Checkpoint(origin: origin, size: stored.size, root: stored.root)
    }

    /// The last signed checkpoint; nil when none was signed.
    var lastSigned: Checkpoint? {
        signed.size == 0
            ? nil : Checkpoint(origin: origin, size: signed.size, root: signed.root)
    }

    /// Records that the stored tree has been signed.
    mutating func markSigned() {
        signed = stored
        reread = stored
    }
}

extension StoredHashIndex {
    /// Returns the number of leaves of the tree with this number of stored hashes, or nil.
    package static func leaves(count: Int64) -> Int64? {
        guard count >= 0, count <= StoredHashIndex.count(leaves: leavesMax) else { return nil }
        // A tree of n leaves has stored 2n hashes, less at most one for each bit of n.
        for leaves in (count / 2)...(count / 2 + 32)
        where StoredHashIndex.count(leaves: leaves) >= count {
            return StoredHashIndex.count(leaves: leaves) == count ? leaves : nil
        }
        return nil
    }
}
