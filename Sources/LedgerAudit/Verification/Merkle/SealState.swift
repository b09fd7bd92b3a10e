import Ledger
import LedgerEngine
import Postgres
import TransparencyLog

/// The sealed size of a tenant's log according to the database, and the keys and checkpoints to verify it.
struct SealState: Sendable {
    /// The number of events whose hashes are stored.
    var leaves: Int64 = 0
    /// The size of the largest stored checkpoint signed by a known key.
    var published: Int64 = 0
    /// The largest size of such a checkpoint, or of one kept elsewhere.
    var signed: Int64 = 0
    /// The size that needs stored hashes: a sealer stores them before it signs.
    var required: Int64 = 0
    /// The keys whose signatures of checkpoints are accepted.
    var verifiers: [NoteVerifier] = []
    /// The keys that were not read from the database.
    var trusted: [NoteVerifier] = []
    /// The checkpoints that were kept elsewhere, in ascending order of size.
    var anchors: [Checkpoint] = []
    /// Whether keys were given and none of them has signed any stored checkpoint.
    var lacksTrustedSignature = false
    /// Faults that were found; all further results are then unreliable.
    var faults: [(check: VerificationCheck, position: LogPosition?, text: String)] = []
    /// Checkpoints above everything sealed that have no valid signature.
    var unsignedFaults: [(check: VerificationCheck, position: LogPosition?, text: String)] = []

    private static let keysMax = 1_000

    private static let lastHashes = Statement(
        "verify_last_hashes",
        """
        SELECT first_index, coalesce(octet_length(hashes), 0)::bigint AS bytes FROM merkle_nodes
        WHERE tenant_id = $1 ORDER BY first_index DESC LIMIT 1
        """)
    private static let stray = Statement(
        "verify_stray_seals",
        """
        SELECT EXISTS (SELECT FROM merkle_nodes WHERE tenant_id = $1 AND first_index < 0)
            OR EXISTS (SELECT FROM checkpoints WHERE tenant_id = $1 AND size <= 0)
        """)
    private static let keys = Statement(
        "verify_checkpoint_keys",
        """
        SELECT coalesce(vkey, '') FROM checkpoint_keys WHERE tenant_id = $1 ORDER BY added_at, vkey
        LIMIT \(keysMax)
        """)

    /// The number of checkpoints read at a time, plus those of the same size as the last.
    private static let pageRows = 100
    /// The maximum number of reported checkpoints above everything sealed; more add no information.
    private static let unsignedMax = 20

    /// Reads the state inside the open transaction.
    init(of tenant: TenantID, trust: SealTrust, on connection: Connection) throws(PostgresError) {
        let name: [Parameter] = [.text(tenant.description)]
        let last = try connection.query(Self.lastHashes, name)
        if last.rowCount == 1 {
            let first = try last.int8(0, last.column("first_index"))
            let bytes = try last.int8(0, last.column("bytes"))
            let end = first.addingReportingOverflow(bytes / Int64(TreeHash.byteCount))
            if let leaves = end.overflow ? nil : StoredHashIndex.leaves(count: end.partialValue) {
                self.leaves = leaves
            } else {
                faults.append((.nodes, nil, "the stored hashes are not those of a complete tree"))
            }
        }
        if try connection.query(Self.stray, name).bool(0, 0) {
            faults.append((.nodes, nil, "there are hashes or checkpoints without a log"))
        }
        trusted = trust.verifiers + (trust.recordKeys[tenant] ?? [])
        try readKeys(of: tenant, trust: trust, on: connection)
        let record = trust.records[tenant]
        anchors = ((trust.anchors[tenant] ?? []) + (record.map { [$0] } ?? []))
            .sorted { $0.size < $1.size }
        do {
            try readLargest(of: tenant, on: connection)
        } catch let error as PostgresError {
            throw error
        } catch {
            throw .unexpectedResult("a checkpoint can't be read")
        }
        required = max(published, record?.size ?? 0)
        lacksTrustedSignature = !trust.verifiers.isEmpty && published == 0
    }

    private mutating func readKeys(
        of tenant: TenantID, trust: SealTrust, on connection: Connection
    ) throws(PostgresError) {
        verifiers = trust.verifiers
        guard verifiers.isEmpty else { return }
        verifiers = trusted
        let keys = try connection.query(Self.keys, [.text(tenant.description)])
        for row in 0..<keys.rowCount {
            if let verifier = NoteVerifier(try keys.text(row, 0)) {
                verifiers.append(verifier)
            } else {
                faults.append((.checkpoints, nil, "checkpoint_keys has an invalid key"))
            }
        }
    }

    /// Finds the largest validly signed checkpoint; those above it have no known signer.
    private mutating func readLargest(of tenant: TenantID, on connection: Connection) throws {
        var stray: [(size: Int64, fault: String)] = []
        var bound = Int64.max
        var isFirst = true
        var rows = 0
        repeat {
            rows = 0
            let above = isFirst ? "<=" : "<"
            let limit = bound
            isFirst = false
            try connection.copyRows(
                """
                COPY (SELECT size, origin, root, note FROM checkpoints
                WHERE tenant_id = \(quoteLiteral(tenant.description)) AND size > 0
                    AND size \(above) \(limit)
                ORDER BY size DESC FETCH FIRST \(Self.pageRows) ROWS WITH TIES)
                TO STDOUT (FORMAT binary)
                """
            ) { row in
                rows += 1
                let claim = CheckpointClaim(
                    origin: String(decoding: row.bytes(1), as: UTF8.self),
                    size: try row.int8(0), root: TreeHash(row.bytes(2)),
                    note: String(decoding: row.bytes(3), as: UTF8.self))
                bound = claim.size
                guard published == 0 else { return }
                if let fault = claim.fault(verifiers) {
                    if stray.count < Self.unsignedMax { stray.append((claim.size, fault)) }
                } else {
                    published = claim.size
                }
            }
        } while published == 0 && rows >= Self.pageRows
        signed = max(published, anchors.last?.size ?? 0)
        // Up to there the search itself reaches them.
        for (size, fault) in stray where size > max(leaves, signed) {
            unsignedFaults.append(
                (.checkpoints, LogPosition(size - 1), "the checkpoint of size \(size) \(fault)"))
        }
    }
}
