import Ledger
import Postgres
import TransparencyLog

/// What was sealed over a stretch of the log: stored hashes, and the checkpoints that end in it.
struct SealStretch: Sendable {
    /// What a checkpoint says of the log.
    struct Signed: Sendable {
        let size: Int64
        /// Nil when it says nothing that could be compared.
        let root: TreeHash?
        /// Why it is not to be trusted; nil when it is.
        let fault: String?
        /// The row that says it; nil for one that was kept elsewhere.
        let claim: CheckpointClaim?

        /// Whether it is one that was kept elsewhere.
        var isAnchor: Bool { claim == nil }
    }

    /// The hashes that the stretch must have stored, in their order; nil where there is none.
    private(set) var hashes: [TreeHash?] = []
    /// Whether the rows of the hashes follow on each other as they were written.
    private(set) var isRegular = true
    /// The checkpoints of sizes above the first position, the smallest first.
    private(set) var signed: [Signed] = []

    /// Reads what belongs to the events at some positions.
    init(
        _ positions: Range<Int64>, of tenant: TenantID, _ seals: SealStanding,
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

    /// The most hashes of a row.
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
            // Whatever the texts are: an error would cost the connection.
            let claim = CheckpointClaim(
                origin: String(decoding: row.bytes(1), as: UTF8.self), size: size, root: root,
                note: String(decoding: row.bytes(3), as: UTF8.self))
            let fault = claim.fault(verifiers)
            found.append(Signed(size: size, root: root, fault: fault, claim: claim))
        }
        signed = found
    }
}
