/// Shows that a leaf is at a position of a tree whose root is known.
///
/// RFC 6962 section 2.1.1. What a proof claims is worth something after `verify` only.
package struct InclusionProof: Hashable, Sendable {
    /// The place of the leaf, from 0.
    package let position: Int64
    /// The number of leaves of the tree.
    package let size: Int64
    /// The siblings on the way from the leaf to the root.
    package let path: [TreeHash]

    /// Takes a proof as it was received.
    package init(position: Int64, size: Int64, path: [TreeHash]) {
        self.position = position
        self.size = size
        self.path = path
    }

    /// The stored hashes that `ProofNodes.path` makes the proof's path of.
    package static func nodes(position: Int64, size: Int64) throws(ProofFault) -> ProofNodes {
        try .inclusion(position: position, size: size)
    }

    /// Returns when the leaf is at the position of the tree with this root.
    package func verify(leaf: TreeHash, root: TreeHash) throws(ProofFault) {
        guard position >= 0, position < size else { throw .outsideTree }
        var climb = Climb(position: position, size: size)
        var hash = leaf
        for sibling in path {
            switch try climb.next() {
            case .left: hash = .node(sibling, hash)
            case .right: hash = .node(hash, sibling)
            }
        }
        guard climb.isAtRoot else { throw .wrongCount }
        guard hash == root else { throw .otherRoot }
    }
}

/// The way from a leaf up to the root, RFC 9162 section 2.1.3.2.
struct Climb {
    enum Side {
        case left, right
    }

    private var node: Int64
    private var last: Int64

    init(position: Int64, size: Int64) {
        node = position
        last = size - 1
    }

    /// Leaves out the levels on which the node is a right child.
    mutating func skipRightChildren() {
        while node & 1 == 1 {
            ascend()
        }
    }

    var isAtRoot: Bool {
        last == 0
    }

    /// Ascends to the next node that has two children; tells where the other child is.
    mutating func next() throws(ProofFault) -> Side {
        guard last > 0 else { throw .wrongCount }
        guard node & 1 == 1 || node == last else {
            ascend()
            return .right
        }
        while node & 1 == 0, node > 0 {
            ascend()
        }
        ascend()
        return .left
    }

    private mutating func ascend() {
        node >>= 1
        last >>= 1
    }
}
