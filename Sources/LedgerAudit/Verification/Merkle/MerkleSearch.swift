import Ledger
import LedgerEngine
import Postgres
import TransparencyLog

/// Locates the differences between a log and what was sealed of it, inside the open transaction.
///
/// Hashes the stored bytes as they are, and ends at the first missing event or contradicted checkpoint: after
/// it no root can be right.
struct MerkleSearch {
    private static let rangeEvents: Int64 = 2_000

    private let tenant: TenantID
    private let seals: SealState
    private(set) var findings: [(check: VerificationCheck, position: LogPosition?, text: String)] =
        []
    private var tree = CompactRange()
    private var completed: [TreeHash] = []
    /// The size of the last checkpoint that agrees with the log.
    private var proved: Int64 = 0
    /// The same among the checkpoints kept elsewhere or signed by a key from outside the database.
    private var trusted: Int64 = 0
    /// Checkpoints without a valid signature: reported last, so that they displace no other finding.
    private var unsignedFaults: [(check: VerificationCheck, position: LogPosition?, text: String)] =
        []
    /// The first stored hash that differs from the log, until a checkpoint shows which of the two is right.
    private var suspect: (position: Int64, isEntry: Bool)?
    private(set) var hashCount: Int64 = 0
    private(set) var checkpointCount: Int64 = 0

    init(_ tenant: TenantID, _ seals: SealState) {
        self.tenant = tenant
        self.seals = seals
    }

    /// The size of the last checkpoint that agrees with the log.
    var signedSize: Int64 { proved }

    /// Searches the whole log.
    mutating func run(on connection: Connection) throws(PostgresError) {
        findings += seals.faults
        defer { findings += unsignedFaults + seals.unsignedFaults }
        if seals.leaves < seals.required {
            add(
                .nodes, seals.leaves,
                "the stored hashes end at \(seals.leaves), and size \(seals.required) was signed")
        }
        let end = max(seals.leaves, seals.signed)
        do {
            while tree.size < end {
                let positions = tree.size..<min(end, tree.size + Self.rangeEvents)
                guard try take(positions, on: connection) else { return }
            }
        } catch let error as PostgresError {
            guard case .unexpectedResult = error else { throw error }
            add(.nodes, tree.size, "a row of the sealed data can't be read")
        } catch {
            add(.nodes, tree.size, "the sealed data can't be read")
        }
        conclude(nil)
    }

    /// Checks a range; returns false when nothing can be determined about the rest of the log.
    private mutating func take(
        _ positions: Range<Int64>, on connection: Connection
    ) throws -> Bool {
        let leaves = try Self.leaves(positions, of: tenant, on: connection)
        let sealed = try SealRange(positions, of: tenant, seals, on: connection)
        if !sealed.isRegular {
            add(
                .nodes, positions.lowerBound,
                "the rows of stored hashes are not contiguous")
        }
        var hashes = sealed.hashes[...]
        var signed = sealed.signed[...]
        for leaf in leaves {
            compare(leaf, &hashes)
            while let next = signed.first, next.size == tree.size {
                signed.removeFirst()
                guard take(next) else { return false }
            }
        }
        guard tree.size < positions.upperBound else { return true }
        missing()
        return false
    }

    /// Adds a leaf and compares the resulting hashes with the stored ones.
    private mutating func compare(_ leaf: TreeHash, _ hashes: inout ArraySlice<TreeHash?>) {
        let position = tree.size
        completed.removeAll(keepingCapacity: true)
        tree.append(leaf, completing: &completed)
        for (index, hash) in completed.enumerated() {
            guard let stored = hashes.popFirst() else { return }
            hashCount += 1
            if stored != hash, suspect == nil {
                suspect = (position: position, isEntry: index == 0 && stored != nil)
            }
        }
    }

    /// Checks a checkpoint of the reached size; returns false when the log contradicts it.
    private mutating func take(_ signed: SealRange.Signed) -> Bool {
        if let fault = signed.fault {
            unsignedFaults.append(
                (
                    .checkpoints, LogPosition(signed.size - 1),
                    "the checkpoint of size \(signed.size) \(fault)"
                ))
        }
        guard signed.root == tree.root else {
            // A checkpoint without a valid signature proves nothing about the log.
            guard signed.fault == nil else { return true }
            conclude(signed)
            return false
        }
        guard signed.fault == nil else { return true }
        checkpointCount += 1
        proved = signed.size
        if isTrusted(signed) { trusted = signed.size }
        if let suspect {
            add(
                .nodes, suspect.position,
                "a stored hash is not what the log gives; the checkpoint of size \(signed.size)"
                    + " agrees with the log")
            self.suspect = nil
        }
        return true
    }

    /// Reports the fault before a checkpoint, or before the end of the sealed part.
    private mutating func conclude(_ signed: SealRange.Signed?) {
        guard let signed else {
            guard let suspect else { return }
            add(
                .nodes, suspect.position,
                suspect.isEntry
                    ? "the entry is not the one that was sealed"
                    : "a stored hash is not what the log gives")
            return
        }
        // An attacker who can rewrite a log can also have it signed again by a key that the database names.
        let start = isTrusted(signed) ? trusted : proved
        let location = "between \(start) and \(signed.size - 1)"
        let what = signed.isAnchor ? "the checkpoint that was kept" : "what was signed"
        if let suspect, suspect.isEntry {
            add(
                .checkpoints, suspect.position,
                "the entry is not the one that was sealed; \(what) is contradicted \(location)")
        } else {
            add(.checkpoints, start, "the entries are not those of \(what), \(location)")
        }
        suspect = nil
    }

    /// Whether a checkpoint is independent of the database: kept elsewhere, or signed by a key from outside
    /// it.
    private func isTrusted(_ signed: SealRange.Signed) -> Bool {
        signed.claim.map { $0.fault(seals.trusted) == nil } ?? true
    }

    /// Reports that the sealed part extends beyond the end of the log.
    private mutating func missing() {
        let start = tree.size
        conclude(nil)
        let what =
            seals.signed > start
            ? "a checkpoint of size \(seals.signed) was signed"
            : "\(seals.leaves) events were sealed"
        let end = max(seals.signed, seals.leaves) - 1
        add(.checkpoints, start, "events are missing between \(start) and \(end): \(what)")
    }

    private mutating func add(_ check: VerificationCheck, _ position: Int64, _ text: String) {
        findings.append((check: check, position: LogPosition(position), text: text))
    }

    /// Reads the leaf hashes of the stored bytes, without a gap from the first position on.
    private static func leaves(
        _ positions: Range<Int64>, of tenant: TenantID, on connection: Connection
    ) throws -> [TreeHash] {
        var leaves: [TreeHash] = []
        var isBroken = false
        try connection.copyRows(
            """
            COPY (SELECT position, entry FROM events
            WHERE tenant_id = \(quoteLiteral(tenant.description))
                AND position >= \(positions.lowerBound) AND position < \(positions.upperBound)
            ORDER BY position) TO STDOUT (FORMAT binary)
            """
        ) { row in
            guard !isBroken, try row.int8(0) == positions.lowerBound + Int64(leaves.count) else {
                isBroken = true
                return
            }
            leaves.append(TreeHash.leaf(row.bytes(1)))
        }
        return leaves
    }
}
