/// A proof that a tree extends an older one: that no older leaf was changed or removed.
///
/// RFC 6962 section 2.1.2. It proves nothing before `verify`.
package struct ConsistencyProof: Hashable, Sendable {
    /// The number of leaves of the older tree.
    package let old: Int64
    /// The number of leaves of the tree.
    package let size: Int64
    /// The subtrees from which both roots are computed, without the older root itself when it is
    /// one of them; empty when the older tree has no leaves or as many.
    package let path: [TreeHash]

    /// Creates an unverified proof.
    package init(old: Int64, size: Int64, path: [TreeHash]) {
        self.old = old
        self.size = size
        self.path = path
    }

    /// Returns the stored hashes from which `ProofNodes.path` computes the path.
    package static func nodes(old: Int64, size: Int64) throws(ProofFault) -> ProofNodes {
        try .consistency(old: old, size: size)
    }

    /// Returns if the tree with this root extends the one with the older root.
    package func verify(oldRoot: TreeHash, root: TreeHash) throws(ProofFault) {
        guard old >= 0, size >= 0 else { throw .outsideTree }
        guard old <= size else { throw .oldSizeAboveSize }
        guard old > 0 else {
            guard path.isEmpty else { throw .wrongCount }
            guard oldRoot == .emptyRoot else { throw .otherOldRoot }
            guard size > 0 || root == .emptyRoot else { throw .otherRoot }
            return
        }
        guard old < size else {
            guard path.isEmpty else { throw .wrongCount }
            guard oldRoot == root else { throw .otherRoot }
            return
        }
        try verifyGrowth(oldRoot: oldRoot, root: root)
    }

    /// Verifies by RFC 9162 section 2.1.4.2.
    private func verifyGrowth(oldRoot: TreeHash, root: TreeHash) throws(ProofFault) {
        var subtrees = path[...]
        if old.nonzeroBitCount == 1 {
            subtrees.insert(oldRoot, at: subtrees.startIndex)
        }
        guard let first = subtrees.popFirst() else { throw .wrongCount }
        var climb = PathAscent(position: old - 1, size: size)
        climb.skipRightChildren()
        var (oldHash, hash) = (first, first)
        for subtree in subtrees {
            switch try climb.next() {
            case .left:
                oldHash = .node(subtree, oldHash)
                hash = .node(subtree, hash)
            case .right:
                hash = .node(hash, subtree)
            }
        }
        guard climb.isAtRoot else { throw .wrongCount }
        guard oldHash == oldRoot else { throw .otherOldRoot }
        guard hash == root else { throw .otherRoot }
    }
}
