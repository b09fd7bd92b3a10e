import Ledger
import TransparencyLog

/// The tree over a log, built leaf by leaf and compared with everything that was sealed: the fast check.
struct MerkleFold {
    private var tree = CompactRange()
    private var completed: [TreeHash] = []
    /// The number of stored hashes that are right.
    private(set) var hashCount: Int64 = 0
    /// The number of checkpoints that are right.
    private(set) var checkpointCount: Int64 = 0
    /// The size of the last right checkpoint.
    private(set) var signedSize: Int64 = 0
    private var roots: StatedRoots

    /// Creates an empty tree; `roots` are the roots that the log states.
    init(_ roots: StatedRoots) {
        self.roots = roots
    }

    /// Whether every root that the log states was reached and equals the tree's.
    var agreesWithRoots: Bool { roots.isEmpty }

    /// Adds the leaves of a range; returns false when anything sealed contradicts them.
    mutating func take(_ range: LogRange) -> Bool {
        let sealed = range.seals
        guard sealed.isRegular else { return false }
        var hash = 0
        var checkpoint = 0
        for event in range.events {
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
