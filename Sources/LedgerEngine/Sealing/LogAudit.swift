import Ledger
import TransparencyLog

/// Compares one log, page by page from its first event, with everything that was ever signed.
///
/// It compares entries with stored hashes, hashes with each other, and roots with checkpoints. A sealer signs
/// new events; the audit shows whether the events signed long ago are still there.
struct LogAudit {
    /// The result of a step.
    enum Outcome {
        /// More events remain.
        case more
        /// Everything up to the last signed size is unchanged.
        case whole
        /// The first position that differs.
        case finding(SealingFinding)
    }

    private static let checkpointsMax = 1_000

    let tenant: TenantID
    private let store: any SealerStore
    private let last: LastSigned
    private let verifiers: [NoteVerifier]
    private let pageMax: Int
    private(set) var tree = CompactRange()
    /// Checkpoints of the log that were read but not reached yet.
    private var ahead: [SignedCheckpoint] = []
    private var checkpointsReadTo: Int64 = 0
    /// The last signed size up to which everything is unchanged.
    private var proved: Int64 = 0
    /// A finding that spares the signed events: named at the end, if nothing worse was found.
    private var lesser: SealingFinding?

    /// Begins at the first event; `last` is the last signed checkpoint in the record.
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

    /// Audits one page.
    ///
    /// - Throws: `SealingRefusal` for an event that no server has appended; the store's errors when it cannot
    ///   be reached.
    mutating func step() async throws -> Outcome {
        if tree.size == 0, let what = try await strayFault() {
            lesser = SealingFinding(
                what: what, position: nil, after: last.checkpoint.size, before: nil,
                sparesSignedEvents: true)
        }
        let end = min(last.checkpoint.size, tree.size + Int64(pageMax))
        try await readCheckpoints(upTo: end)
        let range = try await store.reread(tree.size..<end, of: tenant)
        if range.hashes == nil {
            lesser = lesser ?? .overlap(after: 0, before: last.checkpoint.size)
        }
        // In chunks that end at signed sizes, so that a fault is located between two of these.
        var leaves = range.leaves[...]
        var hashes = range.hashes?[...]
        repeat {
            let next = min(end, ahead.first?.size ?? end)
            let leafCount = Int(next - tree.size)
            let hashCount = Int(
                StoredHashIndex.count(leaves: next) - StoredHashIndex.count(leaves: tree.size))
            let reread = RereadRange(
                leaves: Array(leaves.prefix(leafCount)),
                hashes: hashes.map { Array($0.prefix(hashCount)) })
            if let mismatch = tree.append(reread, upTo: next) {
                return .finding(try await finding(mismatch.what, at: mismatch.position))
            }
            leaves = leaves.dropFirst(leafCount)
            hashes = hashes?.dropFirst(hashCount)
            if let finding = checkpointFinding() { return .finding(finding) }
        } while tree.size < end
        try range.expectAuthentic()
        guard tree.size == last.checkpoint.size else { return .more }
        guard tree.root == last.checkpoint.root else {
            return .finding(differentRootFinding)
        }
        return lesser.map { .finding($0) } ?? .whole
    }

    /// Returns the finding that a checkpoint at the reached size has another root; keeps one that is forged.
    private mutating func checkpointFinding() -> SealingFinding? {
        while let next = ahead.first, next.size == tree.size {
            ahead.removeFirst()
            let says = Checkpoint(
                origin: last.checkpoint.origin, size: next.size, root: TreeHash(next.root))
            guard next.note.utf8.starts(with: says.text.utf8), next.fault(verifiers) == nil else {
                lesser =
                    lesser
                    ?? SealingFinding(
                        what: "the published checkpoint of size \(next.size) is not the one that"
                            + " was signed", position: nil, after: proved, before: tree.size,
                        sparesSignedEvents: true)
                continue
            }
            guard says.root == tree.root else { return differentRootFinding }
            proved = tree.size
        }
        return nil
    }

    /// The finding that the reached size was signed with another root.
    private var differentRootFinding: SealingFinding {
        SealingFinding(
            what: "entries and hashes were changed together and give another root", position: nil,
            after: proved, before: tree.size)
    }

    /// Returns the fault of the checkpoints above the last one in the record: those signed in the meantime
    /// are in order, others have no known signer.
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

    /// Reads the checkpoints of this log that a page may reach.
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

    /// Returns the finding at a position, with the checkpoints around it.
    private func finding(_ what: String, at position: Int64) async throws -> SealingFinding {
        let before = ahead.first { $0.size > position }?.size ?? last.checkpoint.size
        return SealingFinding(what: what, position: position, after: proved, before: before)
    }
}
