import Cryptography
import Testing
import TransparencyLog

/// Trees, their stored hashes and every proof, against the definition of RFC 6962.
@Suite struct TreeTests {
    private static let sizeMax = 130
    private static let tree = ReferenceTree(size: sizeMax)
    private static let stored = tree.stored()

    @Test func `a tree that grows has the defined root at every size`() {
        var range = CompactRange()
        #expect(range.root == .emptyRoot)
        for size in 1...Self.sizeMax {
            range.append(Self.tree.leaves[size - 1])
            #expect(range.size == Int64(size))
            #expect(range.root == Self.tree.root(size), "size \(size)")
        }
    }

    @Test func `a tree continues from its stored edge`() throws {
        for size in 0..<Self.sizeMax {
            let edge = StoredHashIndex.edge(leaves: Int64(size)).map { Self.stored[Int($0)] }
            var range = try #require(CompactRange(size: Int64(size), hashes: edge))
            #expect(range.root == Self.tree.root(size))
            let start = Int(StoredHashIndex.count(leaves: Int64(size)))
            let completed = range.append(Self.tree.leaves[size])
            #expect(completed[...] == Self.stored[start..<(start + completed.count)])
            #expect(range.root == Self.tree.root(size + 1))
        }
    }

    @Test func `an edge of another size is refused`() {
        let hash = TreeHash.emptyRoot
        #expect(CompactRange(size: 3, hashes: [hash]) == nil)
        #expect(CompactRange(size: 4, hashes: [hash, hash]) == nil)
        #expect(CompactRange(size: 0, hashes: [hash]) == nil)
        #expect(CompactRange(size: -1, hashes: [hash]) == nil)
        #expect(CompactRange(size: .max, hashes: Array(repeating: hash, count: 63)) == nil)
    }

    @Test func `every stored hash is the root of the leaves of its index`() {
        for level in 0..<8 {
            for number in 0..<(Self.sizeMax >> level) {
                let first = number << level
                let leaves = Array(Self.tree.leaves[first..<(first + 1 << level)])
                let index = StoredHashIndex.index(level: level, of: Int64(number))
                #expect(Self.stored[Int(index)] == ReferenceTree(leaves).root(leaves.count))
            }
        }
        #expect(Self.stored.count == Int(StoredHashIndex.count(leaves: Int64(Self.sizeMax))))
    }

    @Test func `indexes of the longest tree are computed without overflow`() {
        let last = StoredHashIndex.leavesMax - 1
        #expect(StoredHashIndex.count(leaves: last + 1) == (last + 1) * 2 - 1)
        #expect(StoredHashIndex.index(level: 0, of: last) == 2 * last - 61)
        #expect(StoredHashIndex.index(level: 61, of: 0) == 2 * last)
        #expect(throws: Never.self) {
            _ = try InclusionProof.nodes(position: last, size: last + 1)
            _ = try ConsistencyProof.nodes(old: last, size: last + 1)
        }
    }

    @Test func `every leaf of every tree is proved as defined, and verifies`() throws {
        for size in 1...Self.sizeMax {
            let root = Self.tree.root(size)
            for position in 0..<size {
                let proof = try inclusion(position, size)
                #expect(proof.path == Self.tree.inclusion(position, size))
                try proof.verify(leaf: Self.tree.leaves[position], root: root)
            }
        }
    }

    @Test func `every extension of every tree is proved as defined, and verifies`() throws {
        for size in 0...Self.sizeMax {
            let root = Self.tree.root(size)
            for old in 0...size {
                let proof = try consistency(old, size)
                #expect(proof.path == (old == 0 ? [] : Self.tree.consistency(old, size)))
                try proof.verify(oldRoot: Self.tree.root(old), root: root)
            }
        }
    }

    @Test(arguments: [131, 255, 256, 257, 777, 1_024, 1_999, 2_000])
    func `larger trees are proved as defined, and verify`(size: Int) throws {
        let tree = ReferenceTree(size: size)
        let stored = tree.stored()
        // Random, and the same each time.
        for step in 1...40 {
            let position = step * step * 7_919 % size
            let old = 1 + step * step * 104_729 % size
            let inclusion = try InclusionProof.nodes(
                position: Int64(position), size: Int64(size))
            let path = inclusion.path(inclusion.indexes.map { stored[Int($0)] })
            #expect(path == tree.inclusion(position, size), "position \(position)")
            try InclusionProof(position: Int64(position), size: Int64(size), path: path)
                .verify(leaf: tree.leaves[position], root: tree.root(size))
            let consistency = try ConsistencyProof.nodes(old: Int64(old), size: Int64(size))
            let continuation = consistency.path(consistency.indexes.map { stored[Int($0)] })
            #expect(continuation == tree.consistency(old, size), "old \(old)")
            try ConsistencyProof(old: Int64(old), size: Int64(size), path: continuation)
                .verify(oldRoot: tree.root(old), root: tree.root(size))
        }
    }

    @Test func `proofs that no tree has are refused before any hash is requested`() {
        #expect(throws: ProofFault.outsideTree) { try InclusionProof.nodes(position: 0, size: 0) }
        #expect(throws: ProofFault.outsideTree) { try InclusionProof.nodes(position: 5, size: 5) }
        #expect(throws: ProofFault.outsideTree) { try InclusionProof.nodes(position: -1, size: 5) }
        #expect(throws: ProofFault.outsideTree) {
            try InclusionProof.nodes(position: 0, size: .max)
        }
        #expect(throws: ProofFault.oldSizeAboveSize) { try ConsistencyProof.nodes(old: 6, size: 5) }
        #expect(throws: ProofFault.outsideTree) { try ConsistencyProof.nodes(old: -1, size: 5) }
        #expect(throws: ProofFault.outsideTree) { try ConsistencyProof.nodes(old: 1, size: .max) }
    }

    private func inclusion(_ position: Int, _ size: Int) throws -> InclusionProof {
        let nodes = try InclusionProof.nodes(position: Int64(position), size: Int64(size))
        return InclusionProof(
            position: Int64(position), size: Int64(size),
            path: nodes.path(nodes.indexes.map { Self.stored[Int($0)] }))
    }

    private func consistency(_ old: Int, _ size: Int) throws -> ConsistencyProof {
        let nodes = try ConsistencyProof.nodes(old: Int64(old), size: Int64(size))
        return ConsistencyProof(
            old: Int64(old), size: Int64(size),
            path: nodes.path(nodes.indexes.map { Self.stored[Int($0)] }))
    }
}
