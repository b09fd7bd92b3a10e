import Ledger
import Postgres
import TransparencyLog

/// Finds out what of a log is not as it was sealed, and where, in the transaction that is open.
///
/// Hashes the stored bytes, whatever they are, and goes no further than the first event that is missing
/// or the first checkpoint that the log does not agree with: after it no root can be right.
struct MerkleSearch {
    private static let stretchEvents: Int64 = 2_000

    private let tenant: TenantID
    private let seals: SealStanding
    private(set) var findings: [(check: VerificationCheck, position: LogPosition?, text: String)] =
        []
    private var tree = CompactRange()
    private var completed: [TreeHash] = []
    /// The size of the last checkpoint that the log agrees with.
    private var proved: Int64 = 0
    /// The same among those that were kept elsewhere or are signed by a key that is not the database's.
    private var trusted: Int64 = 0
    /// Checkpoints that nobody signed: named last, so that they hide no place.
    private var strangers: [(check: VerificationCheck, position: LogPosition?, text: String)] = []
    /// The first stored hash that is not what the log gives, until a checkpoint says which is right.
    private var suspect: (position: Int64, isEntry: Bool)?
    private(set) var hashCount: Int64 = 0
    private(set) var checkpointCount: Int64 = 0

    init(_ tenant: TenantID, _ seals: SealStanding) {
        self.tenant = tenant
        self.seals = seals
    }

    /// The size of the last checkpoint that the log agrees with.
    var signedSize: Int64 { proved }

    /// Searches the whole log.
    mutating func run(on connection: Connection) throws(PostgresError) {
        findings += seals.faults
        defer { findings += strangers + seals.strangers }
        if seals.leaves < seals.required {
            add(
                .nodes, seals.leaves,
                "the stored hashes end at \(seals.leaves), and size \(seals.required) was signed")
        }
        let end = max(seals.leaves, seals.signed)
        do {
            while tree.size < end {
                let positions = tree.size..<min(end, tree.size + Self.stretchEvents)
                guard try take(positions, on: connection) else { return }
            }
        } catch let error as PostgresError {
            guard case .unexpectedResult = error else { throw error }
            add(.nodes, tree.size, "a row of what was sealed can't be read")
        } catch {
            add(.nodes, tree.size, "what was sealed can't be read")
        }
        conclude(nil)
    }

    /// Takes a stretch; false when nothing can be said of what follows.
    private mutating func take(
        _ positions: Range<Int64>, on connection: Connection
    ) throws -> Bool {
        let leaves = try Self.leaves(positions, of: tenant, on: connection)
        let sealed = try SealStretch(positions, of: tenant, seals, on: connection)
        if !sealed.isRegular {
            add(
                .nodes, positions.lowerBound,
                "the rows of stored hashes do not follow on each other")
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

    /// Adds a leaf and compares what it gives with what is stored.
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

    /// Takes a checkpoint of the size that is reached; false when the log does not agree with it.
    private mutating func take(_ signed: SealStretch.Signed) -> Bool {
        if let fault = signed.fault {
            strangers.append(
                (
                    .checkpoints, LogPosition(signed.size - 1),
                    "the checkpoint of size \(signed.size) \(fault)"
                ))
        }
        guard signed.root == tree.root else {
            // One that nobody signed proves nothing about the log.
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

    /// Says what is wrong before a checkpoint, or before the end of what was sealed.
    private mutating func conclude(_ signed: SealStretch.Signed?) {
        guard let signed else {
            guard let suspect else { return }
            add(
                .nodes, suspect.position,
                suspect.isEntry
                    ? "the entry is not the one that was sealed"
                    : "a stored hash is not what the log gives")
            return
        }
        // Whoever can rewrite a log can also have it signed anew, by a key that the database names.
        let start = isTrusted(signed) ? trusted : proved
        let place = "between \(start) and \(signed.size - 1)"
        let what = signed.isAnchor ? "the checkpoint that was kept" : "what was signed"
        if let suspect, suspect.isEntry {
            add(
                .checkpoints, suspect.position,
                "the entry is not the one that was sealed; \(what) is contradicted \(place)")
        } else {
            add(.checkpoints, start, "the entries are not those of \(what), \(place)")
        }
        suspect = nil
    }

    /// Whether a checkpoint does not hang on what the database says: one that was kept elsewhere, or is signed
    /// by a key that is.
    private func isTrusted(_ signed: SealStretch.Signed) -> Bool {
        signed.claim.map { $0.fault(seals.trusted) == nil } ?? true
    }

    /// Says that what was sealed goes on where the log ends.
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

    /// The leaf hashes of the stored bytes, without a gap from the first position on.
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
