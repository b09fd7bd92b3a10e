import Ledger
import TransparencyLog

/// What a sealer knows of one tenant's tree, between two looks at it.
struct SealedTree {
    /// The log's name.
    let origin: NoteKeyName
    /// The tree over all events whose hashes are stored.
    private(set) var stored: CompactRange
    /// The tree that was signed last; without leaves when none was.
    private(set) var signed: CompactRange
    /// The tree that was signed last and what of the events behind it has been read once more.
    var reread: CompactRange

    /// Takes a tree up where the stored hashes leave it.
    init(origin: NoteKeyName, stored: CompactRange, signed: CompactRange) {
        self.origin = origin
        self.stored = stored
        self.signed = signed
        reread = signed
    }

    /// The number of hashes that are stored.
    var hashCount: Int64 { StoredHashIndex.count(leaves: stored.size) }

    /// Adds entries; the hashes that are now known, in stored order.
    mutating func append(_ entries: [[UInt8]]) -> [TreeHash] {
        var hashes: [TreeHash] = []
        hashes.reserveCapacity(entries.count * 2)
        for entry in entries {
            stored.append(TreeHash.leaf(entry), completing: &hashes)
        }
        return hashes
    }

    /// What is to be signed now.
    var checkpoint: Checkpoint {
        Checkpoint(origin: origin, size: stored.size, root: stored.root)
    }

    /// What was signed last; nil when nothing was.
    var lastSigned: Checkpoint? {
        signed.size == 0
            ? nil : Checkpoint(origin: origin, size: signed.size, root: signed.root)
    }

    /// Notes that all that is stored has been signed.
    mutating func markSigned() {
        signed = stored
        reread = stored
    }
}

extension StoredHashIndex {
    /// The number of leaves of the tree that has stored so many hashes; nil when none has.
    static func leaves(count: Int64) -> Int64? {
        guard count >= 0, count <= StoredHashIndex.count(leaves: leavesMax) else { return nil }
        // A tree of n leaves has stored 2n hashes but for at most one for each bit of n.
        for leaves in (count / 2)...(count / 2 + 32)
        where StoredHashIndex.count(leaves: leaves) >= count {
            return StoredHashIndex.count(leaves: leaves) == count ? leaves : nil
        }
        return nil
    }
}
