import Ledger
import TransparencyLog

/// Goes through one log from its first event, a page at a time, and holds it against everything that was
/// ever signed: entries against stored hashes, hashes against each other, roots against checkpoints.
///
/// A sealer signs what comes; that what was signed long ago is still there it finds out by this.
struct LogAudit {
    /// What a step came to.
    enum Outcome {
        /// There is more to look at.
        case more
        /// Everything up to the last signed size is as it was.
        case whole
        /// The first place that is not.
        case finding(SealingFinding)
    }

    private static let checkpointsMax = 1_000

    let tenant: TenantID
    private let store: any SealerStore
    private let last: LastSigned
    private let verifiers: [NoteVerifier]
    private let pageMax: Int
    private(set) var tree = CompactRange()
    /// Checkpoints of the log that were read and not yet come by.
    private var ahead: [SignedCheckpoint] = []
    private var checkpointsReadTo: Int64 = 0
    /// The last signed size up to which everything is as it was.
    private var proved: Int64 = 0

    /// Begins at the first event; `last` is what the record says was signed last.
    init(
        of tenant: TenantID, last: LastSigned, verifiers: [NoteVerifier],
        store: any SealerStore, pageMax: Int
    ) {
        self.tenant = tenant
        self.last = last
        self.verifiers = verifiers
        self.store = store
        self.pageMax = pageMax
    }

    /// Looks at one page.
    ///
    /// - Throws: `SealingRefusal` for an event that no server has appended; what the store throws when it
    ///   cannot be reached.
    mutating func step() async throws -> Outcome {
        if tree.size == 0, let what = try await strayFault() {
            return .finding(
                SealingFinding(
                    what: what, position: nil, after: last.checkpoint.size, before: nil,
                    isOfCheckpointAlone: true))
        }
        let end = min(last.checkpoint.size, tree.size + Int64(pageMax))
        try await readCheckpoints(upTo: end)
        let stretch = try await store.reread(tree.size..<end, of: tenant)
        // In pieces that end where something was signed, so that what is wrong lies between two of these.
        var leaves = stretch.leaves[...]
        var hashes = stretch.hashes[...]
        repeat {
            let next = min(end, ahead.first?.size ?? end)
            let leafCount = Int(next - tree.size)
            let hashCount = Int(
                StoredHashIndex.count(leaves: next) - StoredHashIndex.count(leaves: tree.size))
            let piece = RereadStretch(
                leaves: Array(leaves.prefix(leafCount)), hashes: Array(hashes.prefix(hashCount)))
            if let mismatch = tree.append(piece, upTo: next) {
                return .finding(try await finding(mismatch.what, at: mismatch.position))
            }
            leaves = leaves.dropFirst(leafCount)
            hashes = hashes.dropFirst(hashCount)
            if let finding = checkpointFinding() { return .finding(finding) }
        } while tree.size < end
        try stretch.expectAuthentic()
        guard tree.size == last.checkpoint.size else { return .more }
        guard tree.root == last.checkpoint.root else {
            return .finding(anotherRoot)
        }
        return .whole
    }

    /// What is wrong with the checkpoints of the size that is reached, if there are any.
    private mutating func checkpointFinding() -> SealingFinding? {
        while let next = ahead.first, next.size == tree.size {
            ahead.removeFirst()
            let says = Checkpoint(
                origin: last.checkpoint.origin, size: next.size, root: TreeHash(next.root))
            guard next.note.utf8.starts(with: says.text.utf8), next.fault(verifiers) == nil else {
                return SealingFinding(
                    what: "the published checkpoint of size \(next.size) is not the one that was"
                        + " signed", position: nil, after: proved, before: tree.size,
                    isOfCheckpointAlone: true)
            }
            guard says.root == tree.root else { return anotherRoot }
            proved = tree.size
        }
        return nil
    }

    /// That the size which is reached was signed with another root.
    private var anotherRoot: SealingFinding {
        SealingFinding(
            what: "entries and hashes were changed together: they give another root", position: nil,
            after: proved, before: tree.size)
    }

    /// What is wrong with the checkpoints above the last that the record knows: those that were signed
    /// meanwhile are in order, others are nobody's.
    private func strayFault() async throws -> String? {
        let above = try await store.checkpoints(
            of: tenant, above: last.checkpoint.size, limit: Self.checkpointsMax)
        for checkpoint in above where checkpoint.origin == last.checkpoint.origin.description {
            if let fault = checkpoint.fault(verifiers) {
                return "the published checkpoint of size \(checkpoint.size) \(fault)"
            }
        }
        return nil
    }

    /// Reads the checkpoints of this log that a page may come by.
    private mutating func readCheckpoints(upTo end: Int64) async throws {
        while checkpointsReadTo < end {
            let page = try await store.checkpoints(
                of: tenant, above: checkpointsReadTo, limit: Self.checkpointsMax)
            ahead += page.filter {
                $0.origin == last.checkpoint.origin.description && $0.size <= last.checkpoint.size
            }
            checkpointsReadTo = page.last?.size ?? .max
        }
    }

    /// What is wrong at a position, between the checkpoints around it.
    private func finding(_ what: String, at position: Int64) async throws -> SealingFinding {
        let before = ahead.first { $0.size > position }?.size ?? last.checkpoint.size
        return SealingFinding(what: what, position: position, after: proved, before: before)
    }
}
