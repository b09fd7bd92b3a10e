/// The stored hashes that a proof needs, so that a store can fetch them at once.
package struct ProofNodes: Hashable, Sendable {
    /// The indexes of the hashes in the order of `StoredHashIndex`, without duplicates.
    package let indexes: [Int64]
    /// The number of indexes that make up each hash of the path: a subtree at the right edge is not
    /// stored, but consists of several.
    private let counts: [Int]

    private init(_ subtrees: [[Int64]]) {
        indexes = subtrees.flatMap(\.self)
        counts = subtrees.map(\.count)
    }

    /// Returns the path of the proof from the hashes at `indexes`, in their order.
    package func path(_ hashes: [TreeHash]) -> [TreeHash] {
        precondition(hashes.count == indexes.count, "one hash for each index")
        var path: [TreeHash] = []
        var start = 0
        for count in counts {
            if let hash = TreeHash.joined(hashes[start..<(start + count)]) {
                path.append(hash)
            }
            start += count
        }
        return path
    }

    /// Returns the nodes of an inclusion proof, RFC 6962 section 2.1.1: the siblings from the leaf
    /// up.
    static func inclusion(position: Int64, size: Int64) throws(ProofFault) -> ProofNodes {
        guard position >= 0, position < size, size <= StoredHashIndex.leavesMax else {
            throw .outsideTree
        }
        var siblings: [[Int64]] = []
        var (start, end) = (Int64(0), size)
        while end - start > 1 {
            let split = start + largestPower(below: end - start)
            if position < split {
                siblings.append(StoredHashIndex.subtrees(from: split, to: end))
                end = split
            } else {
                siblings.append(StoredHashIndex.subtrees(from: start, to: split))
                start = split
            }
        }
        return ProofNodes(siblings.reversed())
    }

    /// Returns the nodes of a consistency proof, RFC 6962 section 2.1.2.
    static func consistency(old: Int64, size: Int64) throws(ProofFault) -> ProofNodes {
        guard old >= 0, size >= 0, size <= StoredHashIndex.leavesMax else { throw .outsideTree }
        guard old <= size else { throw .oldSizeAboveSize }
        guard old > 0, old < size else { return ProofNodes([]) }
        var subtrees: [[Int64]] = []
        var (start, end) = (Int64(0), size)
        while end != old {
            let split = start + largestPower(below: end - start)
            if old <= split {
                subtrees.append(StoredHashIndex.subtrees(from: split, to: end))
                end = split
            } else {
                subtrees.append(StoredHashIndex.subtrees(from: start, to: split))
                start = split
            }
        }
        // The verifier knows the root of the whole older tree.
        if start > 0 {
            subtrees.append(StoredHashIndex.subtrees(from: start, to: end))
        }
        return ProofNodes(subtrees.reversed())
    }

    /// Returns the largest power of two that is less than a number above 1.
    private static func largestPower(below number: Int64) -> Int64 {
        1 << Int64(63 - (number - 1).leadingZeroBitCount)
    }
}
