/// The part of a tree that is needed to add leaves and to compute the root: at most about 60
/// hashes.
package struct CompactRange: Hashable, Sendable {
    /// The number of leaves.
    package private(set) var size: Int64
    /// The roots of the largest complete subtrees, from the left: one for each set bit of the size.
    package private(set) var hashes: [TreeHash]

    /// A tree without leaves.
    package init() {
        size = 0
        hashes = []
    }

    /// Restores a tree from its stored hashes at `StoredHashIndex.edge(leaves:)`.
    ///
    /// Nil when the number of hashes does not match the edge of a tree of this size.
    package init?(size: Int64, hashes: [TreeHash]) {
        guard
            size >= 0, size <= StoredHashIndex.leavesMax, hashes.count == size.nonzeroBitCount
        else {
            return nil
        }
        self.size = size
        self.hashes = hashes
    }

    /// Adds a leaf and returns the hashes that are complete now, in stored order: the leaf, then
    /// every subtree that it completes.
    @discardableResult
    package mutating func append(_ leaf: TreeHash) -> [TreeHash] {
        var completed: [TreeHash] = []
        append(leaf, completing: &completed)
        return completed
    }

    /// Adds a leaf and appends the hashes that are complete now, in stored order.
    package mutating func append(_ leaf: TreeHash, completing completed: inout [TreeHash]) {
        precondition(size < StoredHashIndex.leavesMax, "at most 2^61 leaves")
        var hash = leaf
        completed.append(hash)
        for _ in 0..<(~size).trailingZeroBitCount {
            hash = .node(hashes.removeLast(), hash)
            completed.append(hash)
        }
        hashes.append(hash)
        size += 1
    }

    /// The root of the tree.
    package var root: TreeHash {
        TreeHash.joined(hashes[...]) ?? .emptyRoot
    }
}

extension TreeHash {
    /// Returns the root over complete subtrees from the left, each smaller than the one before; nil
    /// for none.
    static func joined(_ subtrees: ArraySlice<TreeHash>) -> TreeHash? {
        guard var hash = subtrees.last else { return nil }
        for left in subtrees.dropLast().reversed() {
            hash = .node(left, hash)
        }
        return hash
    }
}
