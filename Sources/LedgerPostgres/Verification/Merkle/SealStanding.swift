import Ledger
import Postgres
import TransparencyLog

/// How far a tenant's log was sealed, as the database has it, and what its checkpoints are held against.
struct SealStanding: Sendable {
    /// The number of events whose hashes are stored.
    var leaves: Int64 = 0
    /// The largest size that a checkpoint names, stored or kept elsewhere.
    var signed: Int64 = 0
    /// Keys that a checkpoint may be signed with.
    var verifiers: [NoteVerifier] = []
    /// Checkpoints that were kept elsewhere, the smallest first.
    var anchors: [Checkpoint] = []
    /// What is wrong already; then the rest is a guess.
    var faults: [(check: VerificationCheck, text: String)] = []

    private static let keysMax = 1_000

    private static let lastHashes = Statement(
        "verify_last_hashes",
        """
        SELECT first_index, coalesce(octet_length(hashes), 0)::bigint FROM merkle_nodes
        WHERE tenant_id = $1 ORDER BY first_index DESC LIMIT 1
        """)
    private static let stray = Statement(
        "verify_stray_seals",
        """
        SELECT EXISTS (SELECT FROM merkle_nodes WHERE tenant_id = $1 AND first_index < 0)
            OR EXISTS (SELECT FROM checkpoints WHERE tenant_id = $1 AND size <= 0)
        """)
    private static let largest = Statement(
        "verify_largest_checkpoint",
        "SELECT size FROM checkpoints WHERE tenant_id = $1 ORDER BY size DESC LIMIT 1")
    private static let keys = Statement(
        "verify_checkpoint_keys",
        """
        SELECT coalesce(vkey, '') FROM checkpoint_keys WHERE tenant_id = $1 ORDER BY added_at, vkey
        LIMIT \(keysMax)
        """)

    /// Reads it in the transaction that is open.
    init(of tenant: TenantID, trust: SealTrust, on connection: Connection) throws(PostgresError) {
        let name: [Parameter] = [.text(tenant.description)]
        let last = try connection.query(Self.lastHashes, name)
        if last.rowCount == 1 {
            let first = try last.int8(0, 0)
            let bytes = try last.int8(0, 1)
            let end = first.addingReportingOverflow(bytes / Int64(TreeHash.byteCount))
            if let leaves = end.overflow ? nil : StoredHashIndex.leaves(count: end.partialValue) {
                self.leaves = leaves
            } else {
                faults.append((.nodes, "the stored hashes are not those of a whole tree"))
            }
        }
        if try connection.query(Self.stray, name).bool(0, 0) {
            faults.append((.nodes, "there are hashes or checkpoints of no log"))
        }
        let size = try connection.query(Self.largest, name)
        signed = size.rowCount == 1 ? try size.int8(0, 0) : 0
        anchors = (trust.anchors[tenant] ?? []).sorted { $0.size < $1.size }
        signed = max(signed, anchors.last?.size ?? 0)
        verifiers = trust.verifiers
        guard verifiers.isEmpty else { return }
        let keys = try connection.query(Self.keys, name)
        for row in 0..<keys.rowCount {
            if let verifier = NoteVerifier(try keys.text(row, 0)) {
                verifiers.append(verifier)
            } else {
                faults.append((.checkpoints, "a key of checkpoint_keys is none"))
            }
        }
    }
}
