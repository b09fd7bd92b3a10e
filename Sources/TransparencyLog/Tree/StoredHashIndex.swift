/// The indexes of a growing tree's hashes when each is stored once, as soon as it is complete.
///
/// Every complete subtree's hash follows the last of its leaves: leaf 0, leaf 1, the node over
/// both, leaf 2, and so on. This is the order of `StoredHashIndex` in Go's
/// `golang.org/x/mod/sumdb/tlog`.
package enum StoredHashIndex {
    /// The maximum number of leaves for which indexes can be computed.
    package static let leavesMax: Int64 = 1 << 61

    /// Returns the index of the hash of a complete subtree.
    ///
    /// Level 0 is that of leaves, level 1 that of the nodes over two leaves, and so on. The number
    /// counts the subtrees of a level from the left, from 0.
    package static func index(level: Int, of number: Int64) -> Int64 {
        precondition(
            level >= 0 && level < 62 && number >= 0 && number < leavesMax >> Int64(level),
            "a subtree within the longest tree")
        let lastLeaf = (number + 1) << Int64(level) - 1
        return count(leaves: lastLeaf) + Int64(level)
    }

    /// Returns the number of hashes that a tree with this many leaves has stored.
    package static func count(leaves: Int64) -> Int64 {
        precondition(leaves >= 0 && leaves <= leavesMax, "at most 2^61 leaves")
        return 2 * leaves - Int64(leaves.nonzeroBitCount)
    }

    /// Returns the indexes of the largest complete subtrees that make up a tree, from the left.
    package static func edge(leaves: Int64) -> [Int64] {
        subtrees(from: 0, to: leaves)
    }

    /// Returns the indexes of the largest complete subtrees of a range of leaves, from the left.
    ///
    /// The range begins where RFC 6962 splits a tree, so each next subtree is aligned to its size.
    static func subtrees(from start: Int64, to end: Int64) -> [Int64] {
        var indexes: [Int64] = []
        var next = start
        while next < end {
            let level = 63 - (end - next).leadingZeroBitCount
            indexes.append(index(level: level, of: next >> Int64(level)))
            next += 1 << Int64(level)
        }
        return indexes
    }
}
