/// A proof that a leaf is at a position of a tree with a known root.
///
/// RFC 6962 section 2.1.1. It proves nothing before `verify`.
package struct InclusionProof: Hashable, Sendable {
    /// The position of the leaf, from 0.
    package let position: Int64
    /// The number of leaves of the tree.
    package let size: Int64
    /// The siblings on the path from the leaf to the root.
    package let path: [TreeHash]

    /// Creates an unverified proof.
    package init(position: Int64, size: Int64, path: [TreeHash]) {
        self.position = position
        self.size = size
        self.path = path
    }

    /// Returns the stored hashes from which `ProofNodes.path` computes the path.
    package static func nodes(position: Int64, size: Int64) throws(ProofFault) -> ProofNodes {
        try .inclusion(position: position, size: size)
    }

    /// Returns if the leaf is at the position of the tree with this root.
    package func verify(leaf: TreeHash, root: TreeHash) throws(ProofFault) {
        guard position >= 0, position < size else { throw .outsideTree }
        var climb = PathAscent(position: position, size: size)
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

/// The path from a leaf up to the root, RFC 9162 section 2.1.3.2.
struct PathAscent {
    enum Side {
        case left, right
    }

    private var node: Int64
    private var last: Int64

    init(position: Int64, size: Int64) {
        node = position
        last = size - 1
    }

    /// Skips the levels on which the node is a right child.
    mutating func skipRightChildren() {
        while node & 1 == 1 {
            ascend()
        }
    }

    var isAtRoot: Bool {
        last == 0
    }

    /// Ascends to the next node that has two children, and returns the side of the other child.
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
