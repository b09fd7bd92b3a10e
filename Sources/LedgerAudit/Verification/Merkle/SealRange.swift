import Ledger
import LedgerEngine
import Postgres
import TransparencyLog

/// The seals over a range of the log: stored hashes, and the checkpoints that end in it.
struct SealRange: Sendable {
    /// A checkpoint as it was read.
    struct Signed: Sendable {
        let size: Int64
        /// The stated root; nil when it is unreadable.
        let root: TreeHash?
        /// The reason why it is not trusted; nil when it is.
        let fault: String?
        /// The row that contains it; nil for one that was kept elsewhere.
        let claim: CheckpointClaim?

        /// Whether it was kept elsewhere.
        var isAnchor: Bool { claim == nil }
    }

    /// The hashes that must be stored for the range, in order; nil where one is missing.
    private(set) var hashes: [TreeHash?] = []
    /// Whether the rows of the hashes are contiguous, as they were written.
    private(set) var isRegular = true
    /// The checkpoints of sizes above the first position, in ascending order.
    private(set) var signed: [Signed] = []

    /// Reads the seals of the events at some positions.
    init(
        _ positions: Range<Int64>, of tenant: TenantID, _ seals: SealState,
        on connection: Connection
    ) throws {
        try readHashes(
            StoredHashIndex.count(
                leaves: min(positions.lowerBound, seals.leaves))..<StoredHashIndex.count(
                    leaves: min(positions.upperBound, seals.leaves)),
            of: tenant, on: connection)
        try readCheckpoints(positions, of: tenant, seals.verifiers, on: connection)
        for anchor in seals.anchors
        where anchor.size > positions.lowerBound && anchor.size <= positions.upperBound {
            signed.append(
                Signed(size: anchor.size, root: anchor.root, fault: nil, claim: nil))
        }
        signed.sort { $0.size < $1.size }
    }

    private mutating func readHashes(
        _ indexes: Range<Int64>, of tenant: TenantID, on connection: Connection
    ) throws {
        guard !indexes.isEmpty else { return }
        var found = [TreeHash?](repeating: nil, count: indexes.count)
        var isRegular = true
        var next = Int64?.none
        try connection.copyRows(
            """
            COPY (SELECT first_index, hashes FROM merkle_nodes
            WHERE tenant_id = \(quoteLiteral(tenant.description))
                AND first_index > \(indexes.lowerBound - Self.rowHashesMax)
                AND first_index < \(indexes.upperBound)
            ORDER BY first_index) TO STDOUT (FORMAT binary)
            """
        ) { row in
            let first = try row.int8(0)
            let bytes = row.bytes(1)
            let count = Int64(bytes.count / TreeHash.byteCount)
            if bytes.count % TreeHash.byteCount != 0 || count == 0 || next ?? first != first {
                isRegular = false
            }
            next = first + count
            let start = max(first, indexes.lowerBound)
            let end = min(first + count, indexes.upperBound)
            guard start < end else { return }
            for index in start..<end {
                found[Int(index - indexes.lowerBound)] = TreeHash(
                    bytes, at: Int(index - first) * TreeHash.byteCount)
            }
        }
        hashes = found
        self.isRegular = isRegular
    }

    /// The maximum number of hashes in a row.
    private static let rowHashesMax: Int64 = 56

    private mutating func readCheckpoints(
        _ positions: Range<Int64>, of tenant: TenantID, _ verifiers: [NoteVerifier],
        on connection: Connection
    ) throws {
        var found: [Signed] = []
        try connection.copyRows(
            """
            COPY (SELECT size, origin, root, note FROM checkpoints
            WHERE tenant_id = \(quoteLiteral(tenant.description))
                AND size > \(positions.lowerBound) AND size <= \(positions.upperBound)
            ORDER BY size, origin) TO STDOUT (FORMAT binary)
            """
        ) { row in
            let size = try row.int8(0)
            let root = TreeHash(row.bytes(2))
            // Invalid texts must not raise an error, which would cost the connection.
            let claim = CheckpointClaim(
                origin: String(decoding: row.bytes(1), as: UTF8.self), size: size, root: root,
                note: String(decoding: row.bytes(3), as: UTF8.self))
            let fault = claim.fault(verifiers)
            found.append(Signed(size: size, root: root, fault: fault, claim: claim))
        }
        signed = found
    }
}
