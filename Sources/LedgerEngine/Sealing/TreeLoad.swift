import Ledger
import TransparencyLog

/// Loads the state of a log as this sealer, or one before it, left it.
struct TreeLoad {
    let store: any SealerStore
    let record: any SealerRecord
    let pageMax: Int

    /// A loaded log.
    struct Loaded {
        /// The number of events in the log.
        let size: Int64
        let tree: SealedTree
        /// Whether a signed but unpublished checkpoint was published during the load.
        let hasPublished: Bool
    }

    /// Loads the tree of a log, and publishes the last signed checkpoint if that was not done.
    ///
    /// - Throws: `SealingRefusal` when the store lacks what was signed.
    func load(_ tenant: TenantID) async throws -> Loaded {
        // Another sealer may sign at the same time. What was published before the record was read is in the
        // record, and what is in the record is in the log that is read after it.
        let before = try await store.logState(of: tenant)
        let kept = try record.logState(
            of: tenant, mayBegin: before.keys.isEmpty && before.checkpoints.isEmpty)
        let published = before.checkpoints.first { $0.origin == kept.origin.description }
        let stored = try await store.logState(of: tenant)
        // Before the checkpoints, because any login of a server may add some.
        if let size = kept.last?.checkpoint.size, stored.size < size {
            throw SealingRefusal.logTruncated(size: stored.size, signed: size)
        }
        try expect(published, toFit: kept)
        let check = TreeCheck(store: store, tenant: tenant, pageMax: pageMax)
        let tree = try await tree(stored, kept, check)
        guard let last = kept.last else {
            return Loaded(size: stored.size, tree: tree, hasPublished: false)
        }
        try await check.expectEnd(of: tree.signed)
        guard published?.size != last.checkpoint.size else {
            return Loaded(size: stored.size, tree: tree, hasPublished: false)
        }
        // Signed and recorded, but not published: the same note is published now.
        try await store.publish(
            last, keys: kept.signers.map(\.verifier.vkey), of: tenant)
        return Loaded(size: stored.size, tree: tree, hasPublished: true)
    }

    private func expect(
        _ published: SignedCheckpoint?, toFit kept: SealerLogRecord
    ) throws(SealingRefusal) {
        guard let published else { return }
        guard let last = kept.last else {
            throw .recordUnusable(
                "checkpoints of \(kept.origin) were published up to size \(published.size), but the"
                    + " record outside the database has none of them: restore it")
        }
        let size = last.checkpoint.size
        if published.size > size, let fault = published.fault(kept.verifiers) {
            throw .contradicts(
                SealingFinding(
                    what: "the published checkpoint of size \(published.size) \(fault)",
                    position: nil, after: size, before: nil, sparesSignedEvents: true))
        }
        guard published.size <= size else {
            throw .recordUnusable(
                "a checkpoint of size \(published.size) was published, but the record outside the"
                    + " database ends at \(size): restore it")
        }
        guard published.size < size || TreeHash(published.root) == last.checkpoint.root else {
            throw .contradicts(
                SealingFinding(
                    what: "the published checkpoint is not the one that was signed", position: nil,
                    after: 0, before: size, sparesSignedEvents: true))
        }
    }

    /// Returns the trees of the stored hashes at their end and at the signed size.
    private func tree(
        _ stored: SealedState, _ kept: SealerLogRecord, _ check: TreeCheck
    ) async throws -> SealedTree {
        let last = kept.last?.checkpoint
        let signed = last?.size ?? 0
        guard stored.hashCount >= StoredHashIndex.count(leaves: signed) else {
            throw SealingRefusal.hashesTruncated(signed: signed)
        }
        guard let size = StoredHashIndex.leaves(count: stored.hashCount) else {
            throw SealingRefusal.hashesDamaged
        }
        guard stored.size >= size else {
            throw SealingRefusal.hashesSurplus(size: stored.size, hashed: size)
        }
        let edge = StoredHashIndex.edge(leaves: size)
        let indexes = edge + StoredHashIndex.edge(leaves: signed)
        let hashes = try await store.hashes(of: check.tenant, at: indexes)
        guard let found = hashes.whole, found.count == indexes.count,
            let whole = CompactRange(size: size, hashes: Array(found[..<edge.count])),
            let before = CompactRange(size: signed, hashes: Array(found[edge.count...])),
            last == nil || last?.root == before.root
        else {
            guard last != nil else { throw SealingRefusal.hashesDamaged }
            throw try await check.refusal(
                "the stored hashes do not give the root that was signed", at: indexes,
                signed: signed)
        }
        return SealedTree(origin: kept.origin, stored: whole, signed: before)
    }
}
