import Ledger
import TransparencyLog

/// The tree over a log, grown leaf by leaf and held against everything that was sealed; quickly.
struct MerkleFold {
    private var tree = CompactRange()
    private var completed: [TreeHash] = []
    /// Stored hashes that were found right.
    private(set) var hashCount: Int64 = 0
    /// Checkpoints that were found right.
    private(set) var checkpointCount: Int64 = 0
    /// The size of the last of them.
    private(set) var signedSize: Int64 = 0
    private var roots: StatedRoots

    /// Begins with no leaf; `roots` is what the log says of itself.
    init(_ roots: StatedRoots) {
        self.roots = roots
    }

    /// Whether every root that the log states was come by, and is the tree's.
    var agreesWithRoots: Bool { roots.isEmpty }

    /// Adds the leaves of a stretch; false when something that was sealed is not what they give.
    mutating func take(_ stretch: LogStretch) -> Bool {
        let sealed = stretch.seals
        guard sealed.isRegular else { return false }
        var hash = 0
        var checkpoint = 0
        for event in stretch.events {
            guard let leaf = TreeHash(event.leaf.bytes) else { return false }
            completed.removeAll(keepingCapacity: true)
            tree.append(leaf, completing: &completed)
            guard roots.difference(at: tree) == nil else { return false }
            if hash < sealed.hashes.count {
                guard sealed.hashes.count - hash >= completed.count else { return false }
                for known in completed {
                    guard sealed.hashes[hash] == known else { return false }
                    hash += 1
                }
            }
            while checkpoint < sealed.signed.count, sealed.signed[checkpoint].size == tree.size {
                let signed = sealed.signed[checkpoint]
                guard signed.fault == nil, signed.root == tree.root else { return false }
                checkpoint += 1
                checkpointCount += 1
                signedSize = tree.size
            }
        }
        hashCount += Int64(hash)
        return hash == sealed.hashes.count && checkpoint == sealed.signed.count
    }
}
