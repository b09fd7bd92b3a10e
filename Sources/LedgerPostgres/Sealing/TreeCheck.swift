import Ledger
import TransparencyLog

/// What has to hold before a signature: the Yeti2022 log died of one flipped bit that nobody looked at
/// again before it was signed.
struct TreeCheck {
    let store: any SealerStore
    let tenant: TenantID
    let pageMax: Int

    /// Reads more of the new events and hashes once more, from the tree that was signed before on; whether
    /// that was all of them.
    ///
    /// The first reading hashed the entries here; this time the store hashes them, by its own code in its
    /// own memory. Both have to come to the same root, and to the very hashes that are stored. After a
    /// restore everything is new, so no more than `limit` events are read in one go.
    /// - Throws: `SealingRefusal`.
    func reread(_ tree: inout SealedTree, limit: Int) async throws -> Bool {
        let last = min(tree.stored.size, tree.reread.size + Int64(limit))
        while tree.reread.size < last {
            let end = min(last, tree.reread.size + Int64(pageMax))
            let stretch = try await store.reread(tree.reread.size..<end, of: tenant)
            if let finding = tree.reread.append(stretch, upTo: end) {
                throw SealingRefusal.contradicts(
                    SealingFinding(
                        what: finding.what, position: finding.position, after: tree.signed.size,
                        before: nil))
            }
            try stretch.expectAuthentic()
        }
        return tree.reread.size == tree.stored.size
    }

    /// Proves that the stored hashes lead from the root that was signed before to the new one, once
    /// everything has been read again.
    ///
    /// - Throws: `SealingRefusal`.
    func expect(_ tree: SealedTree) async throws {
        guard tree.reread == tree.stored else {
            throw refusal("what was read twice has two roots", tree)
        }
        try await expectConsistency(tree)
    }

    /// Reads the last page of what was signed once more: an end that was cut off and grew again, while the
    /// hashes stayed, would not be noticed before the audit comes by.
    ///
    /// - Throws: `SealingRefusal`.
    func expectEnd(of signed: CompactRange) async throws {
        let start = max(0, signed.size - Int64(pageMax))
        let stretch = try await store.reread(start..<signed.size, of: tenant)
        let first = StoredHashIndex.count(leaves: start)
        for position in start..<signed.size {
            let place = Int(position - start)
            let index = Int(StoredHashIndex.index(level: 0, of: position) - first)
            let isThere = place < stretch.leaves.count && index < stretch.hashes.count
            guard isThere, stretch.leaves[place] == stretch.hashes[index] else {
                throw SealingRefusal.contradicts(
                    SealingFinding(
                        what: place < stretch.leaves.count
                            ? "the entry is not the one that was hashed" : "the event is missing",
                        position: position, after: 0, before: signed.size))
            }
        }
        try stretch.expectAuthentic()
    }

    private func expectConsistency(_ tree: SealedTree) async throws {
        let (old, size) = (tree.signed.size, tree.stored.size)
        guard let plan = try? ConsistencyProof.nodes(old: old, size: size) else {
            throw refusal("there is no proof between these sizes", tree)
        }
        guard let hashes = try await store.hashes(of: tenant, at: plan.indexes).whole else {
            throw refusal("stored hashes are missing", tree)
        }
        let proof = ConsistencyProof(old: old, size: size, path: plan.path(hashes))
        do {
            try proof.verify(oldRoot: tree.signed.root, root: tree.stored.root)
        } catch {
            throw refusal("the stored hashes do not continue what was signed", tree)
        }
    }

    private func refusal(_ what: String, _ tree: SealedTree) -> SealingRefusal {
        .contradicts(
            SealingFinding(what: what, position: nil, after: 0, before: tree.signed.size))
    }
}

extension CompactRange {
    /// Something in a stretch that does not follow from the rest of it.
    struct Mismatch {
        let position: Int64
        let what: String
    }

    /// Adds the leaves of a stretch, which has to reach a size and to have stored what they give.
    ///
    /// - Returns: the first place that does not fit; then the tree is of no use any more.
    mutating func append(_ stretch: RereadStretch, upTo end: Int64) -> Mismatch? {
        var rest = stretch.hashes[...]
        for leaf in stretch.leaves {
            let position = size
            let hashes = append(leaf)
            guard rest.count >= hashes.count else {
                return Mismatch(position: position, what: "a stored hash is missing")
            }
            guard rest.first == leaf else {
                return Mismatch(
                    position: position, what: "the entry is not the one that was hashed")
            }
            guard rest.prefix(hashes.count).elementsEqual(hashes) else {
                return Mismatch(position: position, what: "a stored hash is another one")
            }
            rest = rest.dropFirst(hashes.count)
        }
        guard size == end else {
            return Mismatch(position: size, what: "the event is missing")
        }
        return nil
    }
}
