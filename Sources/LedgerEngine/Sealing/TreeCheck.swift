import Ledger
import TransparencyLog

/// The checks before a signature: the Yeti2022 log was ruined by one flipped bit that was not checked again
/// before signing.
struct TreeCheck {
    let store: any SealerStore
    let tenant: TenantID
    let pageMax: Int

    /// Reads more of the new events and hashes again, after the last signed tree; returns whether those were
    /// all.
    ///
    /// The first reading hashed the entries here; this time the store hashes them, with its own code and
    /// memory. Both must give the same root and the stored hashes. After a restore everything is new, so at
    /// most `limit` events are read at once.
    /// - Throws: `SealingRefusal`.
    func reread(_ tree: inout SealedTree, limit: Int) async throws -> Bool {
        let last = min(tree.stored.size, tree.reread.size + Int64(limit))
        while tree.reread.size < last {
            let end = min(last, tree.reread.size + Int64(pageMax))
            let range = try await store.reread(tree.reread.size..<end, of: tenant)
            guard range.hashes != nil else {
                throw SealingRefusal.contradicts(.overlap(after: tree.signed.size, before: nil))
            }
            if let finding = tree.reread.append(range, upTo: end) {
                throw SealingRefusal.contradicts(
                    SealingFinding(
                        what: finding.what, position: finding.position, after: tree.signed.size,
                        before: nil))
            }
            try range.expectAuthentic()
        }
        return tree.reread.size == tree.stored.size
    }

    /// Proves that the stored hashes lead from the last signed root to the new one, after all was read again.
    ///
    /// - Throws: `SealingRefusal`.
    func expect(_ tree: SealedTree) async throws {
        guard tree.reread == tree.stored else {
            throw refusal("two reads of the same events give different roots", tree)
        }
        try await expectConsistency(tree)
    }

    /// Reads the last page of the signed events again.
    ///
    /// An end that was cut off and grew again while the hashes remained would otherwise go unnoticed until
    /// the audit.
    /// - Throws: `SealingRefusal`.
    func expectEnd(of signed: CompactRange) async throws {
        let start = max(0, signed.size - Int64(pageMax))
        let range = try await store.reread(start..<signed.size, of: tenant)
        guard let hashes = range.hashes else {
            throw SealingRefusal.contradicts(.overlap(after: 0, before: signed.size))
        }
        let first = StoredHashIndex.count(leaves: start)
        for position in start..<signed.size {
            let offset = Int(position - start)
            let index = Int(StoredHashIndex.index(level: 0, of: position) - first)
            let isThere = offset < range.leaves.count && index < hashes.count
            guard isThere, range.leaves[offset] == hashes[index] else {
                throw SealingRefusal.contradicts(
                    SealingFinding(
                        what: offset < range.leaves.count
                            ? "the entry is not the one that was hashed" : "the event is missing",
                        position: position, after: 0, before: signed.size))
            }
        }
        try range.expectAuthentic()
    }

    /// Returns the refusal of the stored hashes at some indexes, which spares signed events if rows overlap there.
    func refusal(
        _ what: String, at indexes: [Int64], signed: Int64
    ) async throws -> SealingRefusal {
        try await store.hashesOverlap(of: tenant, at: indexes)
            ? .contradicts(.overlap(after: 0, before: signed))
            : .contradicts(SealingFinding(what: what, position: nil, after: 0, before: signed))
    }

    private func expectConsistency(_ tree: SealedTree) async throws {
        let (old, size) = (tree.signed.size, tree.stored.size)
        guard let plan = try? ConsistencyProof.nodes(old: old, size: size) else {
            throw refusal("there is no proof between these sizes", tree)
        }
        guard let hashes = try await store.hashes(of: tenant, at: plan.indexes).whole else {
            throw try await refusal("stored hashes are missing", at: plan.indexes, signed: old)
        }
        let proof = ConsistencyProof(old: old, size: size, path: plan.path(hashes))
        do {
            try proof.verify(oldRoot: tree.signed.root, root: tree.stored.root)
        } catch {
            throw try await refusal(
                "the stored hashes do not continue what was signed", at: plan.indexes, signed: old)
        }
    }

    private func refusal(_ what: String, _ tree: SealedTree) -> SealingRefusal {
        .contradicts(
            SealingFinding(what: what, position: nil, after: 0, before: tree.signed.size))
    }
}

extension CompactRange {
    /// The first item in a range that does not follow from the rest.
    struct Mismatch {
        let position: Int64
        let what: String
    }

    /// Adds the leaves of a range, which must reach a size and match the stored hashes if no rows overlap.
    ///
    /// - Returns: the first mismatch; the tree is then no longer usable.
    mutating func append(_ range: RereadRange, upTo end: Int64) -> Mismatch? {
        var rest = range.hashes?[...]
        for leaf in range.leaves {
            let position = size
            let hashes = append(leaf)
            guard let known = rest else { continue }
            guard known.count >= hashes.count else {
                return Mismatch(position: position, what: "a stored hash is missing")
            }
            guard known.first == leaf else {
                return Mismatch(
                    position: position, what: "the entry is not the one that was hashed")
            }
            guard known.prefix(hashes.count).elementsEqual(hashes) else {
                return Mismatch(position: position, what: "a stored hash is wrong")
            }
            rest = known.dropFirst(hashes.count)
        }
        guard size == end else {
            return Mismatch(position: size, what: "the event is missing")
        }
        return nil
    }
}
