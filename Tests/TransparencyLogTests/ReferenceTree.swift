import TransparencyLog

/// The tree as defined by RFC 6962 section 2.1, unoptimised: the reference for all other code.
struct ReferenceTree {
    let leaves: [TreeHash]
    /// The roots of the ranges that the definition visits, by their bounds.
    private let roots: [Range<Int>: TreeHash]

    init(_ leaves: [TreeHash]) {
        self.leaves = leaves
        var roots: [Range<Int>: TreeHash] = [:]
        var width = 1
        while width < leaves.count * 2 {
            for start in stride(from: 0, to: leaves.count, by: width) {
                for end in (start + 1)...min(start + width, leaves.count) {
                    let split = start + ReferenceTree.half(end - start)
                    roots[start..<end] =
                        if let left = roots[start..<split], let right = roots[split..<end] {
                            .node(left, right)
                        } else {
                            leaves[start]
                        }
                }
            }
            width *= 2
        }
        self.roots = roots
    }

    /// Returns a leaf of a tree whose entries are their positions.
    static func leaf(_ position: Int) -> TreeHash {
        .leaf(Array("entry \(position)".utf8))
    }

    init(size: Int) {
        self.init((0..<size).map(ReferenceTree.leaf))
    }

    func root(_ size: Int) -> TreeHash {
        roots[0..<size] ?? .emptyRoot
    }

    /// Returns the path of section 2.1.1.
    func inclusion(_ position: Int, _ size: Int) -> [TreeHash] {
        inclusion(position, 0..<size)
    }

    /// Returns the path of section 2.1.2.
    func consistency(_ old: Int, _ size: Int) -> [TreeHash] {
        consistency(old, 0..<size, isWhole: true)
    }

    /// Returns the stored hashes of the whole tree.
    func stored() -> [TreeHash] {
        var range = CompactRange()
        var stored: [TreeHash] = []
        for leaf in leaves {
            stored += range.append(leaf)
        }
        return stored
    }

    private func root(_ stretch: Range<Int>) -> TreeHash {
        roots[stretch] ?? .emptyRoot
    }

    private func inclusion(_ position: Int, _ stretch: Range<Int>) -> [TreeHash] {
        guard stretch.count > 1 else { return [] }
        let split = stretch.lowerBound + Self.half(stretch.count)
        let (left, right) = (stretch.lowerBound..<split, split..<stretch.upperBound)
        return position < split
            ? inclusion(position, left) + [root(right)]
            : inclusion(position, right) + [root(left)]
    }

    private func consistency(
        _ old: Int, _ stretch: Range<Int>, isWhole: Bool
    ) -> [TreeHash] {
        guard old < stretch.upperBound else { return isWhole ? [] : [root(stretch)] }
        let split = stretch.lowerBound + Self.half(stretch.count)
        let (left, right) = (stretch.lowerBound..<split, split..<stretch.upperBound)
        return old <= split
            ? consistency(old, left, isWhole: isWhole) + [root(right)]
            : consistency(old, right, isWhole: false) + [root(left)]
    }

    /// Returns the largest power of two less than a number of at least two; 0 for smaller ones.
    private static func half(_ count: Int) -> Int {
        guard count > 1 else { return 0 }
        var half = 1
        while half * 2 < count { half *= 2 }
        return half
    }
}
